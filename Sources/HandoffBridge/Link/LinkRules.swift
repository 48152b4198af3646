// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop

/// What a message on a link must be like. A bridge sends nothing else, so whoever does is cut off.
enum LinkRules {
    /// The longest message on a link that carries no state of an activity, in bytes.
    static let maximumMessage = 1 << 14
    /// The longest one that does, which is the reply to `Fetch` and the call of `Park`, or that has what is in a clipboard, which is
    /// the reply to `FetchClipboard`, in bytes.
    static let maximumState = 320 << 10
    /// The longest one that lists what is open, which is the reply to `List`, in bytes.
    static let maximumList = (64 << 10) + maximumHeader
    /// The most that a header may take, in bytes: object, interface and member take no more.
    static let maximumHeader = 2048

    /// Why a message is not allowed; nil if it is.
    /// - Parameter isFirst: whether nothing has come before it.
    static func violation(by message: Message, isFirst: Bool) -> String? {
        if message.destination != nil { return "it addressed a message, to “\(shown(message.destination))”" }
        if message.sender != nil { return "it named a sender, “\(shown(message.sender?.text))”" }
        switch message.kind {
        case .call:
            if message.path != .root { return "it called the object “\(shown(message.path?.text))”" }
            if message.interface == nil { return "it called \(shown(message.member)) of no interface" }
            // The calls under way are counted by means of their answers.
            if !message.wantsReply { return "it wants no answer to \(shown(message.member))" }
            if isFirst, !message.isMember("Hello", of: LinkBinding.description.name) {
                return "it called \(shown(message.member)) before Hello"
            }
        case .reply, .error:
            if isFirst { return "it answered before Hello" }
        case .signal: return "it sent the signal \(shown(message.member))"
        case nil: return "it sent a message of an unknown type"
        }
        return nil
    }

    /// What becomes of a message of which only the header need have arrived. `standing` says what is known of the
    /// call that the message answers.
    /// - Throws: `InvalidArgs`, saying what its sender did wrong, if it ends the link.
    static func verdict(
        on message: Message, _ standing: (UInt32) -> ReplyStanding
    ) throws(DBusError) -> Framer.Verdict {
        guard message.kind == .reply || message.kind == .error else {
            let limit = limit(ofCall: message)
            guard message.length <= limit else { throw Framer.tooLong(message.length, limit) }
            return .take
        }
        let (limit, verdict): (Int, Framer.Verdict)
        switch standing(message.replySerial) {
        case .awaited(let call):
            limit = message.kind == .reply ? self.limit(ofReplyTo: call) : maximumMessage
            verdict = .take
        case .late: (limit, verdict) = (maximumState, .passOver)
        case .unknown: throw .invalidArgs("it answered what was not asked, or once more")
        }
        guard message.length <= limit else { throw Framer.tooLong(message.length, limit) }
        return verdict
    }

    /// How long a reply to `call`, written `interface.member`, may be, in bytes.
    static func limit(ofReplyTo call: String) -> Int {
        switch call {
        case fetch, fetchClipboard: maximumState
        case list: maximumList
        default: maximumMessage
        }
    }

    private static func limit(ofCall message: Message) -> Int {
        message.kind == .call && message.isMember("Park", of: PeerBinding.description.name)
            ? maximumState : maximumMessage
    }

    /// How long `message`, which answers `call` if there is one, may be, in bytes.
    static func limit(of message: Message, answering call: Message?) -> Int {
        guard let call else { return limit(ofCall: message) }
        guard message.kind == .reply, call.interface == PeerBinding.description.name.text else {
            return maximumMessage
        }
        return limit(ofReplyTo: "\(PeerBinding.description.name).\(call.member ?? "")")
    }

    private static let fetch = "\(PeerBinding.description.name).Fetch"
    private static let fetchClipboard = "\(PeerBinding.description.name).FetchClipboard"
    private static let list = "\(PeerBinding.description.name).List"

    /// Whether `interface` can be called over a link.
    static func serves(_ interface: String?) -> Bool {
        [LinkBinding.description, PairingBinding.description, PeerBinding.description]
            .contains { $0.name.text == interface }
    }

    private static func shown(_ name: String?) -> String { String((name ?? "").prefix(64)) }
}

/// What the device at the other end of a link may do: nothing but what is allowed here.
@MainLoop
final class LinkPolicy: AccessPolicy {
    /// Whether both sides have said that they are paired.
    var isPaired = false

    func decide(_ request: AccessRequest) -> AccessDecision {
        switch request.access {
        case .stranger: .allow
        case .paired where isPaired, .routed where isPaired: .allow
        default:
            .deny(
                .accessDenied(
                    "\(request.interface).\(request.member) is open to paired devices, which this one is not here."
                        + " Pair both devices with each other first."))
        }
    }
}
