// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop
internal import Platform

/// A TLS connection as a channel of D-Bus messages, with the rules that every message on a link must keep.
///
/// Whatever breaks a rule ends the channel. The channel is not read while ``maximumCalls`` calls of the other
/// side are under way, and it ends when more is waiting to be sent than the other side may leave unread.
@MainLoop
final class LinkChannel: MessageChannel, ChannelOwner, Directory {
    /// How many calls of the other side can be under way.
    nonisolated static let maximumCalls = 16
    /// How much of the text of an error is sent if all of it is too long.
    private static let shownOfError = 256
    /// How much goes by a link.
    private static let limits = SocketChannel.Limits(
        frames: Framer.Limits(
            header: LinkRules.maximumHeader, message: LinkRules.maximumState, answer: Message.maximumLength),
        comfortable: 4 << 20, unsent: 4 << 20, waitingJobs: 4, patience: .seconds(5))

    /// Calls, answers and objects.
    private(set) lazy var connection = Connection(self)
    /// How many more bytes are taken; nil for no limit.
    var allowance: Int? {
        get { channel.allowance }
        set { channel.allowance = newValue }
    }
    /// Counts the work that the other side causes here; nil if nobody counts it.
    var account: PeerAccount?
    /// Whether nothing is read, because what would come of it has no room.
    var isBlocked = false {
        didSet { if oldValue { channel.goOn() } }
    }
    /// Whether the other side has ended the channel in order; known once it has ended.
    private(set) var endedInOrder = false

    private let transport: TLSConnection
    private let channel: SocketChannel
    private let line: CallLine
    private let label: String
    /// The calls under way, by their serial numbers.
    private var calls: [UInt32: Message] = [:]
    private var isFirst = true
    /// When something was received last, in microseconds of ``MainLoop/now``; only where a carrier has brought the link.
    private(set) var heardAt: Int64 = MainLoop.now
    private lazy var acknowledgements = AcknowledgementWatch { [weak self] in
        self?.transport.silence
    } _: { [weak self] time in
        self?.close(DBusError(.disconnected, "The other device has not answered for \(time)."))
    }

    /// The channel over `transport`. Nothing is read before ``begin()``.
    init(_ transport: TLSConnection) {
        self.transport = transport
        label = transport.peer.description
        line = CallLine(Caller(label: label))
        channel = SocketChannel(transport, Self.limits)
        connection.directory = self
        connection.objects.servesStandardInterfaces = false
        channel.owner = self
    }

    isolated deinit { channel.close() }

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
    func begin() { channel.begin() }

    // MARK: The end

    /// Ends the channel, and fails the waiting calls, with `reason`. To the other side it looks cut off.
    func close(_ reason: DBusError) {
        guard !isClosed else { return }
        acknowledgements.stop()
        channel.close()
        connection.closed(reason)
    }

    /// Ends the channel in order as soon as all that was sent has left, and takes nothing more.
    func closeWhenSent(_ reason: DBusError) {
        channel.closeWhenSent { [weak self] in self?.close(reason) }
    }

    /// Waits until everything that was sent has left and the channel has ended, at most until `deadline`; for
    /// the end of the program.
    func awaitSent(until deadline: Int64) { channel.flush(until: deadline) }

    func ended(_ reason: SocketChannel.End) {
        switch reason {
        case .closed(let inOrder):
            endedInOrder = inOrder && !isClosed
            close(DBusError(.disconnected, "The other device has closed the link."))
        case .broken(let why): close(DBusError(.disconnected, "The link is broken: \(why)."))
        case .violation(let why):
            close(DBusError(.disconnected, "The link was cut off: \(why)" + (why.hasSuffix(".") ? "" : ".")))
        }
    }

    // MARK: Receiving

    var isHeldUp: Bool { calls.count >= Self.maximumCalls || isBlocked }

    /// Reads, charging the time to the other side, as soon as the other side may have more of it.
    func admitReading(_ read: @escaping @MainLoop () -> Void) -> Bool {
        if let account { return account.admit(read) }
        read()
        return true
    }

    func judge(_ message: Message) throws(DBusError) -> Framer.Verdict {
        let verdict = try LinkRules.verdict(on: message, connection.standing(ofReplyTo:))
        if verdict == .passOver {
            bridgeLog.debug("\(label): an answer came too late and is passed over.")
            connection.dropped(lateReplyTo: message.replySerial)
        }
        return verdict
    }

    func received(_ message: Message) throws(DBusError) {
        try message.checkBody()
        if let violation = LinkRules.violation(by: message, isFirst: isFirst) {
            throw .invalidArgs(violation)
        }
        isFirst = false
        if transport.isCarried { heardAt = MainLoop.now }
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

    func line(of sender: BusName?) -> CallLine? { line }
    func knownLine(of sender: BusName?) -> CallLine? { line }

    func settle(_ body: @escaping @MainLoop () -> Void) { connection.afterWhatCame(from: nil, body) }

    // MARK: Sending

    var isCrowded: Bool { channel.isCrowded }

    func send(_ message: Message) throws(DBusError) -> UInt32 {
        let wasHeldUp = isHeldUp
        let call = message.kind == .call ? nil : calls.removeValue(forKey: message.replySerial)
        defer { if wasHeldUp { channel.goOn() } }
        let serial = try send(message, answering: call)
        acknowledgements.expect()
        return serial
    }

    /// Sends `message`. It must not take more bytes than the other side takes, or that would cut the link off. An answer that
    /// cannot be sent becomes an error, since somebody is waiting for it.
    private func send(_ message: Message, answering call: Message?) throws(DBusError) -> UInt32 {
        do throws(DBusError) {
            return try channel.send(message, limit: LinkRules.limit(of: message, answering: call))
        } catch {
            guard let call, error.name != .disconnected else { throw error }
            bridgeLog.debug("\(label): an answer is replaced by an error: \(error.message)")
            let reason = message.error.map {
                DBusError($0.name, String($0.message.prefix(Self.shownOfError)))
            }
            return try channel.send(
                try Message.error(reason ?? error, to: call), limit: LinkRules.maximumMessage)
        }
    }
}
