// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus
internal import Glibc
package import MainLoop
internal import Platform

/// A socket to one connection of a bus: messages between the two pass the bus daemon by, in order.
///
/// Who is at its other end is known by whom it was given to, or got from, over the bus; no message on it says anything
/// about that. It is the way of all that its ``Connection`` sends to that name. Whatever breaks a rule ends it: a message that is
/// malformed or too long, or a descriptor where none is expected.
@MainLoop
package final class AttachedSocket {
    /// The unique name of the connection at the other end.
    package let name: BusName
    /// Tells sockets apart, so that what came by one is answered by that one alone.
    let number: UInt64
    /// Whether it has been there for so long that another one may take its place when it ends: two sides that disagree must not
    /// go on replacing it.
    package var hasLasted: Bool { MainLoop.now - begunAt >= Self.leastTime }
    /// Called once when the other side has ended the socket, or it has broken a rule.
    package var onEnded: (@MainLoop () -> Void)?
    /// Called when ``isCrowded`` has changed.
    package var onCrowding: (@MainLoop () -> Void)?
    /// Whether so much waits to be sent that nothing should be done which adds to it.
    package private(set) var isCrowded = false

    /// From here on, calls are numbered that go by such a socket: a bus numbers from below.
    static let firstSerial: UInt32 = 1 << 31
    /// How many messages are written before others on the main loop get their turn.
    private static let maximumWrites = 256
    /// How long it has to last, in microseconds, to be replaced.
    private static let leastTime: Int64 = 10_000_000
    /// How many reads follow each other before others get their turn.
    private static let maximumReads = 4
    /// How many there have been.
    private static var made: UInt64 = 0
    /// The number of the last message, of all sockets together: by it a connection knows the call that is answered.
    private static var serial = AttachedSocket.firstSerial
    /// What is read goes here first, whatever socket it comes by.
    private static var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// How much goes by it.
    let limits: AttachedLimits
    private let socket: FileDescriptor
    private let begunAt = MainLoop.now
    private weak var connection: Connection?
    private var turns: ReadingTurns?
    /// Whether it has asked for a turn, and not had it yet.
    private var isAsking = false
    /// Whether nothing is read until it is not held up any longer.
    private var isPaused = false
    /// Called when it ends after ``finish(_:)``.
    private var onFinished: (@MainLoop () -> Void)?
    private var readSource: DescriptorSource?
    private var writeSource: DescriptorSource?
    private var isEnded = false
    private var incoming = IncomingFrames()
    private var outgoing = OutgoingFrames()
    /// How much of that is counted among what all clients leave unread.
    private var toldUnread = 0
    /// Whether the other side takes nothing more. What it has sent before still counts.
    private var isUnwritable = false
    /// How many of the calls that have come run.
    private var calls = 0
    private let log = Log(domain: "dbus")

    /// The way to `name` by `socket`, once it is given to ``Connection/attach(_:)``.
    package init(
        _ socket: consuming FileDescriptor, to name: BusName, _ limits: AttachedLimits = .betweenDaemons
    ) {
        self.socket = socket
        self.name = name
        self.limits = limits
        Self.made += 1
        number = Self.made
    }

    isolated deinit { release() }

    func begin(_ connection: Connection, _ turns: ReadingTurns) {
        (self.connection, self.turns) = (connection, turns)
        readLater()
    }

    private func readLater() {
        guard readSource == nil else { return }
        readSource = DescriptorSource(socket.number, .readable) { [weak self] _ in self?.askForTurn() }
    }

    /// Ends it from this side. Nothing that is unread counts.
    func release() {
        isEnded = true
        (readSource, writeSource) = (nil, nil)
        incoming = IncomingFrames()
        outgoing = OutgoingFrames()
        tellUnread()
        turns?.forget(self)
        shutdown(socket.number, Int32(SHUT_RDWR))
    }

    private func end(_ reason: String) {
        guard !isEnded else { return }
        log.debug("The socket to \(name) has ended: \(reason).")
        release()
        connection?.detached(self)
        onEnded?()
        (onEnded, onCrowding) = (nil, nil)
        finished()
    }

    /// Whoever sends must not find everything changed when that returns.
    private func endSoon(_ reason: String) {
        MainLoop.start { [weak self] in self?.end(reason) }
    }

    // MARK: Receiving

    /// Whether nothing is read, since the other side does not take the answers to what it has asked, or they are still to
    /// come.
    private var isHeldUp: Bool {
        guard !isUnwritable else { return false }
        return calls >= limits.calls
            || limits.holdsBackWhoDoesNotRead && isCrowded || outgoing.bytes > 0 && areAllCrowded
    }

    /// Whether all clients together leave so much unread that none of them may leave more.
    private var areAllCrowded: Bool { limits.holdsBackWhoDoesNotRead && turns?.areCrowded == true }

    private func askForTurn() {
        guard !isAsking, !isEnded, let turns else { return }
        isAsking = true
        turns.ask(self)
    }

    /// Whoever sends must not find that messages have been taken when that returns; and it is at nobody's expense.
    private func askSoon() {
        MainLoop.charge(nil) { _ = MainLoop.start { [weak self] in self?.askForTurn() } }
    }

    /// Takes what has come, within limits.
    /// - Returns: how many messages that were, and whether it is to have another turn, which it then counts as having asked
    ///   for.
    func takeTurn() -> (messages: Int, hasMore: Bool) {
        isAsking = false
        let most = areAllCrowded ? 1 : limits.messagesATurn
        var taken = 0
        do throws(DBusError) {
            isAsking = try takeWhatIsThere(most, &taken)
        } catch {
            end(error.message)
        }
        pauseIfHeldUp()
        return (taken, isAsking)
    }

    /// Takes messages until `taken` is `most`.
    /// - Returns: whether there may be more.
    private func takeWhatIsThere(_ most: Int, _ taken: inout Int) throws(DBusError) -> Bool {
        for _ in 1...Self.maximumReads {
            try takeMessages(most, &taken)
            guard !isEnded, !isHeldUp else { return false }
            guard taken < most else { return true }
            guard let count = read() else { return false }
            // The source shows whether there is more, but for what was there when nothing could be written any longer.
            if count < Self.buffer.count, !isUnwritable {
                try takeMessages(most, &taken)
                return !isEnded && !isHeldUp && taken == most
            }
        }
        return true
    }

    private func pauseIfHeldUp() {
        guard !isEnded, isHeldUp else { return }
        (isPaused, readSource) = (true, nil)
        if areAllCrowded { turns?.hold(self) }
    }

    /// Reads again, if that is paused and need not be any longer.
    func goOn() {
        guard isPaused, !isEnded, !isHeldUp else { return }
        isPaused = false
        readLater()
        askSoon()
    }

    /// Takes what the other side, which has left the bus, has left behind, and ends.
    /// - Parameter ended: called then.
    func finish(_ ended: @escaping @MainLoop () -> Void) {
        onFinished = ended
        // From now on nothing can be added to it.
        shutdown(socket.number, Int32(SHUT_RD))
        stopWriting()
    }

    /// Tells whoever has had it finished that it has ended, once all that has come by it has begun to take effect.
    func finished() {
        guard let body = onFinished else { return }
        onFinished = nil
        MainLoop.start { body() }
    }

    /// Reads once.
    /// - Returns: how many bytes came; nil if there are none now, or no more.
    private func read() -> Int? {
        var descriptor: Int32 = -1
        let count = DescriptorLimit.withReserve {
            Self.buffer.withUnsafeMutableBytes {
                handoff_receive(socket.number, $0.baseAddress, $0.count, &descriptor)
            }
        }
        switch count {
        case 1...:
            incoming.add(Self.buffer.prefix(count), descriptor)
            return count
        case -Int(EAGAIN), -Int(EINTR):
            if isUnwritable { endSoon("the other side takes nothing more") }
            return nil
        case 0, -Int(ECONNRESET):
            // What came before takes effect first, in the tasks that were started for it.
            readSource = nil
            endSoon("the other side has closed it")
            return nil
        default:
            end(String(cString: strerror(Int32(-count))))
            return nil
        }
    }

    /// Takes the messages that are there whole, until `taken` is `most`.
    private func takeMessages(_ most: Int, _ taken: inout Int) throws(DBusError) {
        while !isEnded, !isHeldUp, taken < most, let frame = try incoming.next(limit: limits.longestReceived)
        {
            taken += 1
            try take(frame)
        }
    }

    private func take(_ frame: [UInt8]) throws(DBusError) {
        guard let connection else { return }
        let message = try Message.demarshal(frame, from: self)
        if connection.expectsDescriptor(with: message) { message.carry(try incoming.takeDescriptor()) }
        if message.kind == .call { calls += 1 }
        connection.received(message)
    }

    /// A call that came by it has ended, and has been answered, if it wants that.
    func callEnded() {
        calls -= 1
        goOn()
    }

    // MARK: Sending

    func send(_ message: Message) throws(DBusError) -> UInt32 {
        guard !isEnded, !isUnwritable else {
            throw DBusError(.disconnected, "The socket to \(name) has ended.")
        }
        let serial = Self.nextSerial()
        message.setSerial(serial)
        let bytes = try message.marshalNumbered(limit: limits.longestSent)
        let former = outgoing.bytes
        outgoing.add(message, as: bytes)
        guard hasRoom(besides: former) else {
            endSoon("the other side does not read")
            throw DBusError(
                .disconnected, "The socket to \(name) has ended: it does not read what it is sent.")
        }
        // What waits already is written when there is room, in order.
        if outgoing.count == 1 { flush() }
        updateCrowding()
        return serial
    }

    /// Whether what waits may wait, besides a first message that takes whatever it takes: `former` bytes waited before.
    private func hasRoom(besides former: Int) -> Bool {
        let counted = outgoing.bytes - (limits.holdsBackWhoDoesNotRead ? outgoing.answerBytes : 0)
        return former == 0 || counted <= (areAllCrowded ? limits.comfortable : limits.unsent)
    }

    private static func nextSerial() -> UInt32 {
        serial = serial == .max ? firstSerial : serial + 1
        return serial
    }

    private func flush() {
        for _ in 1...Self.maximumWrites {
            guard !isEnded, let next = outgoing.first else {
                writeSource = nil
                return
            }
            let written = next.bytes.withUnsafeBytes {
                handoff_send(socket.number, $0.baseAddress, $0.count, next.carrier?.descriptors.first ?? -1)
            }
            guard written >= 0 else {
                return written == -Int(EAGAIN) || written == -Int(EINTR) ? writeLater() : stopWriting()
            }
            outgoing.sent(written)
        }
        if outgoing.first != nil { writeLater() }
    }

    private func writeLater() {
        guard writeSource == nil else { return }
        writeSource = DescriptorSource(socket.number, .writable) { [weak self] _ in
            self?.flush()
            self?.updateCrowding()
        }
    }

    /// The other side takes nothing more, most likely because it is gone. What it has sent before is read first.
    private func stopWriting() {
        isUnwritable = true
        writeSource = nil
        outgoing = OutgoingFrames()
        tellUnread()
        (isCrowded, isPaused) = (false, false)
        askSoon()
    }

    private func tellUnread() {
        guard limits.holdsBackWhoDoesNotRead, let turns else { return }
        turns.unreadChanged(by: outgoing.bytes - toldUnread)
        toldUnread = outgoing.bytes
    }

    private func updateCrowding() {
        tellUnread()
        let hasChanged = isCrowded != (outgoing.bytes > limits.comfortable)
        if hasChanged { isCrowded.toggle() }
        goOn()
        if hasChanged { onCrowding?() }
    }
}
