// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffDaemon
internal import MainLoop
internal import Platform

/// A TLS connection as a channel of D-Bus messages: framing, limits, and the rules that every message must
/// keep.
///
/// Whatever breaks a rule ends the channel. The channel is not read while ``maximumCalls`` calls of the other
/// side are under way, and it ends when more is waiting to be sent than the other side may leave unread.
@MainLoop
final class LinkChannel: MessageChannel {
    /// How many calls of the other side can be under way.
    nonisolated static let maximumCalls = 16
    /// How many reads, of one record each, follow each other before others on the main loop get their turn.
    private static let maximumReads = 4
    /// How long messages are taken, in microseconds, before others on the main loop get their turn and the
    /// work that the messages have caused is counted.
    private static let longestRead: Int64 = 1000
    /// How many jobs may wait on the main loop before reading stops, since it would add more of them.
    private static let maximumJobs = 4
    /// How long what was sent may take to leave before the channel is closed all the same.
    private static let closingTime = Duration.seconds(1)
    /// How much of the text of an error is sent if all of it is too long.
    private static let shownOfError = 256

    /// Calls, answers and objects.
    private(set) lazy var connection = Connection(self)
    /// How many more bytes are taken; nil for no limit.
    var allowance: Int?
    /// Counts the work that the other side causes here; nil if nobody counts it.
    var account: PeerAccount?

    private let transport: TLSConnection
    private let caller: Caller
    private var incoming = FrameBuffer()
    private var outgoing = OutgoingBytes()
    private var buffer = [UInt8](repeating: 0, count: 2 * TLSConnection.recordSize)
    private var readSource: LoopSource?
    private var writeSource: LoopSource?
    /// The calls under way, by their serial numbers.
    private var calls: [UInt32: Message] = [:]
    private var isFirst = true
    /// The read that follows once others have had their turn.
    private var soon: LoopSource?
    /// Whether the other side has to wait until it is read.
    private var isHeld = false
    /// Whether nothing is read, because what would come of it has no room.
    var isHeldUp = false {
        didSet { if oldValue, !isPaused { readSoon() } }
    }
    private var closesWhenSent: DBusError?
    /// Ends the channel even if not everything has left.
    private var closing: LoopSource?
    /// Whether the other side has ended the channel, which is about to be reported.
    private var isAtEnd = false
    /// Whether the other side has ended the channel in order; known once it has ended.
    private(set) var endedInOrder = false
    private var serial: UInt32 = 0
    private lazy var acknowledgements = AcknowledgementWatch { [weak self] in
        self?.transport.silence
    } _: { [weak self] time in
        self?.close(DBusError(.disconnected, "The other device has not answered for \(time)."))
    }

    /// The channel over `transport`. Nothing is read before ``begin()``.
    init(_ transport: TLSConnection) {
        self.transport = transport
        caller = Caller(label: transport.peer.description)
        connection.objects.servesStandardInterfaces = false
    }

    isolated deinit { release() }

    var isClosed: Bool { connection.isClosed }

    /// The bytes of this end's IP address; nil if they are not known.
    var localAddress: [UInt8]? { transport.localAddress }

    /// The IP address of the other end.
    var remoteHost: String { transport.remoteHost }

    /// How long the other side has been silent; nil if it has acknowledged everything.
    var silence: Silence? { transport.silence }

    /// The user is waiting for what was just sent, or is about to be.
    func expectAcknowledgement() { acknowledgements.expect(within: AcknowledgementWatch.shortPatience) }

    /// Begins to read.
    func begin() { readSoon() }

    /// Ends the channel, and fails the waiting calls, with `reason`. To the other side it looks cut off.
    func close(_ reason: DBusError) { close(reason, inOrder: false) }

    private func close(_ reason: DBusError, inOrder: Bool) {
        guard !isClosed else { return }
        release(inOrder: inOrder)
        connection.closed(reason)
    }

    /// Ends the channel in order as soon as all that was sent has left, and takes nothing more.
    func closeWhenSent(_ reason: DBusError) {
        if outgoing.isEmpty { return close(reason, inOrder: true) }
        closesWhenSent = reason
        stopReading()
        closing = .timer(after: Self.closingTime) { [weak self] in self?.close(reason) }
    }

    private func stopReading() {
        readSource = nil
        soon?.cancel()
        soon = nil
    }

    /// Waits until everything that was sent has left and the channel has ended, at most until `deadline`; for
    /// the end of the program.
    func awaitSent(until deadline: Int64) {
        while !isClosed, closesWhenSent != nil, MainLoop.now < deadline {
            transport.awaitRoom(until: deadline)
            flush()
        }
    }

    private func release(inOrder: Bool = false) {
        acknowledgements.stop()
        stopReading()
        (writeSource, closing) = (nil, nil)
        if inOrder { transport.finish() } else { transport.close() }
    }

    /// The other side has ended the channel. What came before that takes effect first, in the tasks that were
    /// started for it.
    private func inputEnded(_ reason: String, inOrder: Bool = false) {
        isAtEnd = true
        stopReading()
        MainLoop.start { [self] in
            endedInOrder = inOrder && !isClosed
            close(DBusError(.disconnected, reason))
        }
    }

    private func cutOff(_ why: String) {
        close(DBusError(.disconnected, "The link was cut off, because \(why)."))
    }

    // MARK: Receiving

    private var isPaused: Bool {
        calls.count >= Self.maximumCalls || closesWhenSent != nil || isAtEnd || isHeldUp
    }

    /// Reads as soon as others on the main loop have had their turn, even if the socket shows nothing to
    /// read: there may be something in a buffer.
    private func readSoon() {
        readSource = nil
        guard soon == nil, !isClosed else { return }
        soon = .soon { [weak self] in
            self?.soon = nil
            self?.readSome()
        }
    }

    /// Reads, charging the time to the other side, as soon as the other side may have more of it.
    private func readSome() {
        guard let account else { return read() }
        guard !isHeld else { return }
        // What was asked before comes first: its time is not counted yet, and the user's calls wait behind
        // it.
        guard MainLoop.waitingJobs <= Self.maximumJobs else { return readSoon() }
        isHeld = true
        let isNow = account.admit { [weak self] in
            self?.isHeld = false
            self?.read()
        }
        // The kernel keeps what comes until it is read.
        if !isNow { readSource = nil }
    }

    private func read() {
        var reads = 0
        let end = MainLoop.now + Self.longestRead
        while !isClosed, !isPaused {
            do throws(DBusError) {
                while !isClosed, !isPaused, let frame = try incoming.next({ verdict(on: $0) }) {
                    try receive(frame)
                    // There may be more in the buffer, which the socket does not show.
                    if MainLoop.now >= end { return readSoon() }
                }
            } catch {
                return cutOff(error.message)
            }
            guard !isClosed, !isPaused else { break }
            reads += 1
            guard reads <= Self.maximumReads else { return readSoon() }
            switch transfer() {
            case .bytes: continue
            case .wouldBlock:
                if readSource == nil {
                    readSource = transport.whenReadable { [weak self] in self?.readSome() }
                }
                return
            case .ended(let inOrder):
                return inputEnded("The other device has closed the link.", inOrder: inOrder)
            case .failed(let why): return inputEnded("The link is broken: \(why).")
            }
        }
        readSource = nil
    }

    private func verdict(on header: MessageHeader) -> FrameBuffer.Verdict {
        let verdict = LinkRules.verdict(on: header, connection.standing(ofReplyTo:))
        if case .skip = verdict {
            bridgeLog.debug("\(caller.label): an answer came too late and is passed over.")
            connection.dropped(lateReplyTo: header.replySerial)
        }
        return verdict
    }

    /// Reads once, into the buffer that is cut into messages.
    private func transfer() -> TLSConnection.Transfer {
        let transfer = buffer.withUnsafeMutableBytes { transport.read(into: $0) }
        guard case .bytes(let count) = transfer else { return transfer }
        if let left = allowance {
            allowance = left - count
            if left < count { cutOff("it sent more than a device may that is not paired") }
        }
        incoming.append(buffer[..<count])
        return transfer
    }

    private func receive(_ frame: [UInt8]) throws(DBusError) {
        let message = try Message.demarshal(frame, limit: FrameBuffer.maximumFetchReply)
        if let violation = LinkRules.violation(by: message, isFirst: isFirst) {
            throw .invalidArgs(violation)
        }
        isFirst = false
        if message.kind == .call {
            guard calls.updateValue(message, forKey: message.serial) == nil else {
                throw .invalidArgs("it used a serial number again")
            }
            guard LinkRules.serves(message.interface) else { return refuse(message) }
        }
        connection.received(message)
    }

    private func refuse(_ call: Message) {
        let interface = (call.interface ?? "").prefix(64)
        let error = DBusError.accessDenied("\(interface) is not open to other devices.")
        if let answer = try? Message.error(error, to: call) { connection.post(answer) }
    }

    func identify(senderOf message: Message, _ body: @escaping @MainLoop (Caller) -> Void) { body(caller) }

    // MARK: Sending

    func send(_ message: Message) throws(DBusError) -> UInt32 {
        guard !isClosed, closesWhenSent == nil else { throw DBusError(.disconnected, "The link is closed.") }
        serial = serial == .max ? 1 : serial + 1
        message.setSerial(serial)
        let wasPaused = isPaused
        let call = message.kind == .call ? nil : calls.removeValue(forKey: message.replySerial)
        outgoing.append(try bytes(of: message, answering: call))
        flush()
        acknowledgements.expect()
        if wasPaused, !isPaused { readSoon() }
        guard outgoing.count <= OutgoingBytes.maximum else {
            cutOff("it does not read what it is sent")
            throw DBusError(.disconnected, "The link is closed.")
        }
        return serial
    }

    /// The bytes of `message`. There must not be more of them than the other side takes, or it would cut the
    /// link off. An answer that cannot be sent becomes an error, since somebody is waiting for it.
    private func bytes(of message: Message, answering call: Message?) throws(DBusError) -> [UInt8] {
        do throws(DBusError) {
            return try message.marshal(limit: LinkRules.limit(of: message, answering: call))
        } catch {
            guard let call else { throw error }
            bridgeLog.debug("\(caller.label): an answer is replaced by an error: \(error.message)")
            let reason = message.error.map {
                DBusError($0.name, String($0.message.prefix(Self.shownOfError)))
            }
            let answer = try Message.error(reason ?? error, to: call)
            answer.setSerial(serial)
            return try answer.marshal(limit: FrameBuffer.maximumMessage)
        }
    }

    private func flush() {
        var failure: DBusError?
        while !isClosed, !outgoing.isEmpty {
            let wrote = outgoing.write { bytes in
                switch transport.write(bytes) {
                case .bytes(let count): return count
                case .wouldBlock: return nil
                case .ended, .failed:
                    failure = DBusError(.disconnected, "The link is broken.")
                    return nil
                }
            }
            if let failure { return close(failure) }
            if !wrote {
                if writeSource == nil {
                    writeSource = transport.whenWritable { [weak self] in self?.flush() }
                }
                return
            }
        }
        writeSource = nil
        if let closesWhenSent { close(closesWhenSent, inOrder: true) }
    }
}
