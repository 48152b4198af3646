// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop

/// A TLS connection as a channel of D-Bus messages: framing, limits, and the rules that every message must
/// keep.
///
/// Whatever breaks a rule ends the channel. It is not read while ``maximumCalls`` calls of the other side are
/// under way, and ends when more waits to be sent than the other side may leave unread.
@MainLoop
final class LinkChannel: MessageChannel {
    /// How many calls of the other side can be under way.
    nonisolated static let maximumCalls = 16
    /// How many reads follow each other before others on the main loop get their turn.
    private static let maximumReads = 16
    /// How long what was sent may take to leave before the channel is closed all the same.
    private static let closingTime = Duration.seconds(1)

    /// Calls, answers and objects.
    private(set) lazy var connection = Connection(self)
    /// How many more bytes are taken; nil for no limit.
    var allowance: Int?

    private let transport: TLSConnection
    private let caller: Caller
    private var incoming = FrameBuffer()
    private var outgoing = OutgoingBytes()
    private var buffer = [UInt8](repeating: 0, count: 2 * TLSConnection.recordSize)
    private var readSource: StreamSource?
    private var writeSource: StreamSource?
    /// The calls under way, by their serial numbers.
    private var calls: [UInt32: Message] = [:]
    private var isFirst = true
    private var isReadScheduled = false
    private var closesWhenSent: DBusError?
    /// Ends it, though not all has left.
    private var closing: LoopSource?
    /// Whether the other side has ended it, which is about to be told.
    private var isAtEnd = false
    /// Whether the other side has ended it in order; known once it has ended.
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

    /// The silence of the other side; nil if it has acknowledged everything.
    var silence: Silence? { transport.silence }

    /// The user waits for what was sent or will be now.
    func expectAcknowledgement() { acknowledgements.expect(within: AcknowledgementWatch.shortPatience) }

    /// Begins to read.
    func begin() { scheduleRead() }

    /// Ends the channel, and fails the calls that wait, with `reason`. The other side takes it for cut.
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
        readSource = nil
        closing = .timer(after: Self.closingTime) { [weak self] in self?.close(reason) }
    }

    /// Waits until all that was sent has left and the channel has ended, at most until `deadline`; for the end of a program.
    func awaitSent(until deadline: Int64) {
        while !isClosed, closesWhenSent != nil, MainLoop.now < deadline {
            transport.awaitRoom(until: deadline)
            flush()
        }
    }

    private func release(inOrder: Bool = false) {
        acknowledgements.stop()
        (readSource, writeSource, closing) = (nil, nil, nil)
        if inOrder { transport.finish() } else { transport.close() }
    }

    /// The other side has ended the channel. What came before takes effect first, in the tasks that were started for it.
    private func inputEnded(_ reason: String, inOrder: Bool = false) {
        isAtEnd = true
        readSource = nil
        MainLoop.start { [self] in
            endedInOrder = inOrder && !isClosed
            close(DBusError(.disconnected, reason))
        }
    }

    private func cutOff(_ why: String) {
        close(DBusError(.disconnected, "The link was cut off, because \(why)."))
    }

    // MARK: Receiving

    private var isPaused: Bool { calls.count >= Self.maximumCalls || closesWhenSent != nil || isAtEnd }

    private func scheduleRead() {
        guard !isReadScheduled, !isClosed else { return }
        isReadScheduled = true
        MainLoop.start { [weak self] in
            self?.isReadScheduled = false
            self?.read()
        }
    }

    private func read() {
        var reads = 0
        while !isClosed, !isPaused {
            do throws(DBusError) {
                if let frame = try incoming.next() {
                    try receive(frame)
                    continue
                }
            } catch {
                return cutOff(error.message)
            }
            reads += 1
            guard reads <= Self.maximumReads else { return scheduleRead() }
            guard readMore() else { return }
        }
        readSource = nil
    }

    /// Reads once, and says whether that is worth repeating.
    private func readMore() -> Bool {
        switch buffer.withUnsafeMutableBytes({ transport.read(into: $0) }) {
        case .bytes(let count):
            if let left = allowance {
                allowance = left - count
                if left < count {
                    cutOff("it sent more than a device may that is not paired")
                    return false
                }
            }
            incoming.append(buffer[..<count])
            return true
        case .wouldBlock:
            if readSource == nil { readSource = transport.whenReadable { [weak self] in self?.read() } }
        case .ended(let inOrder): inputEnded("The other device has closed the link.", inOrder: inOrder)
        case .failed(let why): inputEnded("The link is broken: \(why).")
        }
        return false
    }

    private func receive(_ frame: [UInt8]) throws(DBusError) {
        let message = try Message.demarshal(frame, limit: FrameBuffer.maximumMessage)
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
        let call = message.kind == .call ? nil : calls.removeValue(forKey: message.replySerial)
        outgoing.append(try bytes(of: message, answering: call))
        flush()
        acknowledgements.expect()
        if call != nil { scheduleRead() }
        guard outgoing.count <= OutgoingBytes.maximum else {
            cutOff("it does not read what it is sent")
            throw DBusError(.disconnected, "The link is closed.")
        }
        return serial
    }

    /// The bytes of `message`. An answer that cannot be sent becomes an error, since somebody waits for it.
    private func bytes(of message: Message, answering call: Message?) throws(DBusError) -> [UInt8] {
        do throws(DBusError) {
            return try message.marshal(limit: FrameBuffer.maximumMessage)
        } catch {
            guard let call else { throw error }
            bridgeLog.debug("\(caller.label): an answer is replaced by an error: \(error.message)")
            let answer = try Message.error(error, to: call)
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
