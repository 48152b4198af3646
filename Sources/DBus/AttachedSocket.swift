// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus
internal import Glibc
public import MainLoop
internal import Platform

/// A socket to one connection of a bus: messages between the two pass the bus daemon by, in order.
///
/// Who is at its other end is known by whom it was given to, or got from, over the bus; no message on it says anything
/// about that. It is the way of all that its ``Connection`` sends to that name. Whatever breaks a rule ends it: a message that is
/// malformed or too long, or a descriptor where none is expected.
@MainLoop
public final class AttachedSocket {
    /// The unique name of the connection at the other end.
    public let name: BusName
    /// Tells sockets apart, so that what came by one is answered by that one alone.
    let number: UInt64
    /// Called once when the other side has ended the socket, or it has broken a rule.
    public var onEnded: (@MainLoop () -> Void)?
    /// Called when ``isCrowded`` has changed.
    public var onCrowding: (@MainLoop () -> Void)?
    /// Whether so much waits to be sent that nothing should be done which adds to it.
    public private(set) var isCrowded = false

    /// From here on, calls are numbered that go by such a socket: a bus numbers from below.
    static let firstSerial: UInt32 = 1 << 31
    /// The longest message, in bytes: more than any that the daemons have for each other.
    static let maximumMessage = 4 << 20
    /// How many bytes may wait before it is crowded.
    private static let comfortable = 4 << 20
    /// How many bytes may wait.
    private static let maximumUnsent = 64 << 20
    /// How many messages may wait.
    private static let maximumWaiting = 1 << 18
    /// How many messages are written before others on the main loop get their turn.
    private static let maximumWrites = 256
    /// How many jobs may wait when more is read, as on a bus.
    private static let maximumBacklog = 64
    /// How many reads follow each other before others on the main loop get their turn.
    private static let maximumReads = 4
    /// How many there have been.
    private static var made: UInt64 = 0

    private let socket: FileDescriptor
    private weak var connection: Connection?
    private var readSource: DescriptorSource?
    private var writeSource: DescriptorSource?
    private var serial = AttachedSocket.firstSerial
    private var isEnded = false
    private var incoming: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    /// Descriptors that have come, and belong to messages that have not been cut out yet.
    private var descriptors: [Int32] = []
    private var outgoing: [Outgoing] = []
    /// Where what waits begins in that.
    private var head = 0
    /// Whether the other side takes nothing more. What it has sent before still counts.
    private var isUnwritable = false
    private var unsent = 0
    private let log = Log(domain: "dbus")

    private struct Outgoing {
        var bytes: ArraySlice<UInt8>
        /// Kept for the descriptor that goes with the first byte; nil once that has gone, or if there is none.
        var carrier: Message?
    }

    /// The way to `name` by `socket`, once it is given to ``Connection/attach(_:)``.
    public init(_ socket: consuming FileDescriptor, to name: BusName) {
        self.socket = socket
        self.name = name
        Self.made += 1
        number = Self.made
    }

    isolated deinit { release() }

    func begin(_ connection: Connection) {
        self.connection = connection
        readSource = DescriptorSource(socket.number, .readable) { [weak self] _ in self?.readSome() }
    }

    /// Ends it from this side. Nothing that is unread counts.
    func release() {
        isEnded = true
        (readSource, writeSource) = (nil, nil)
        for number in descriptors { close(number) }
        (descriptors, outgoing, incoming, head) = ([], [], [], 0)
        shutdown(socket.number, Int32(SHUT_RDWR))
    }

    private func end(_ reason: String) {
        guard !isEnded else { return }
        log.debug("The socket to \(name) has ended: \(reason).")
        release()
        connection?.detached(self)
        onEnded?()
        (onEnded, onCrowding) = (nil, nil)
    }

    /// Whoever sends must not find everything changed when that returns.
    private func endSoon(_ reason: String) {
        MainLoop.start { [weak self] in self?.end(reason) }
    }

    // MARK: Receiving

    private func readSome() {
        for _ in 1...Self.maximumReads {
            guard !isEnded else { return }
            guard MainLoop.waitingJobs <= Self.maximumBacklog else { break }
            guard let count = read() else { return }
            do throws(DBusError) {
                try takeMessages()
            } catch {
                return end(error.message)
            }
            if count < buffer.count { break }
        }
        if isUnwritable { readOn() }
    }

    /// What is there is read although the socket may not show it again, and then is the end.
    private func readOn() {
        MainLoop.start { [weak self] in self?.readSome() }
    }

    /// Reads once.
    /// - Returns: how many bytes came; nil if there are none now, or no more.
    private func read() -> Int? {
        var descriptor: Int32 = -1
        let count = DescriptorLimit.withReserve {
            buffer.withUnsafeMutableBytes {
                handoff_receive(socket.number, $0.baseAddress, $0.count, &descriptor)
            }
        }
        if descriptor >= 0 { descriptors.append(descriptor) }
        switch count {
        case 1...:
            incoming += buffer.prefix(count)
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

    private func takeMessages() throws(DBusError) {
        var start = 0
        defer { if !isEnded { incoming.removeFirst(start) } }
        while !isEnded {
            switch Message.neededBytes(incoming[start...], limit: Self.maximumMessage) {
            case .invalid: throw .malformed("it is none, or too long")
            case .needMore: return try checkDescriptors(isAtStart: start == incoming.count)
            case .length(let length):
                guard incoming.count - start >= length else { return try checkDescriptors(isAtStart: false) }
                let frame = Array(incoming[start..<start + length])
                start += length
                try take(frame)
            }
        }
    }

    /// A descriptor comes with the first byte of its message, and so there is none between messages.
    private func checkDescriptors(isAtStart: Bool) throws(DBusError) {
        guard descriptors.count <= (isAtStart ? 0 : 1) else {
            throw .malformed("a descriptor came with a message that carries none")
        }
    }

    private func take(_ frame: [UInt8]) throws(DBusError) {
        guard let connection else { return }
        let message = try Message.demarshal(frame, from: self)
        if connection.expectsDescriptor(with: message) {
            guard !descriptors.isEmpty else { throw .malformed("its descriptor is missing") }
            message.carry(descriptors.removeFirst())
        }
        connection.received(message)
    }

    // MARK: Sending

    func send(_ message: Message) throws(DBusError) -> UInt32 {
        guard !isEnded, !isUnwritable else {
            throw DBusError(.disconnected, "The socket to \(name) has ended.")
        }
        serial = serial == .max ? Self.firstSerial : serial + 1
        message.setSerial(serial)
        let bytes = try message.marshalNumbered(limit: Self.maximumMessage)
        guard unsent + bytes.count <= Self.maximumUnsent, outgoing.count - head < Self.maximumWaiting else {
            endSoon("the other side does not read")
            throw DBusError(
                .disconnected, "The socket to \(name) has ended: it does not read what it is sent.")
        }
        outgoing.append(
            Outgoing(bytes: bytes[...], carrier: message.containsFileDescriptors ? message : nil))
        unsent += bytes.count
        // What waits already is written when there is room, in order.
        if outgoing.count - head == 1 { flush() }
        updateCrowding()
        return serial
    }

    private func flush() {
        for _ in 1...Self.maximumWrites {
            guard !isEnded, head < outgoing.count else {
                writeSource = nil
                return
            }
            let next = outgoing[head]
            let written = next.bytes.withUnsafeBytes {
                handoff_send(socket.number, $0.baseAddress, $0.count, next.carrier?.descriptors.first ?? -1)
            }
            guard written >= 0 else {
                return written == -Int(EAGAIN) || written == -Int(EINTR) ? writeLater() : stopWriting()
            }
            sent(written)
        }
        if head < outgoing.count { writeLater() }
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
        (outgoing, head, unsent) = ([], 0, 0)
        readOn()
    }

    /// So many bytes of what comes next have left.
    private func sent(_ count: Int) {
        unsent -= count
        let left = outgoing[head].bytes.dropFirst(count)
        outgoing[head] = Outgoing(bytes: left, carrier: nil)
        guard left.isEmpty else { return }
        outgoing[head].bytes = []
        head += 1
        if head == outgoing.count || head >= 1024 && head > outgoing.count / 2 {
            outgoing.removeFirst(head)
            head = 0
        }
    }

    private func updateCrowding() {
        let now = unsent > Self.comfortable
        guard now != isCrowded else { return }
        isCrowded = now
        onCrowding?()
    }
}
