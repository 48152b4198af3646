// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff send`: sends what is current here to another device, which shows it, or to a telephone.
struct SendVerb: Verb {
    static let name = "send"
    static let arguments: String? = "[DEVICE]"
    static let summary = tr("Send what is current here to a device, which shows it to its user")
    static let completion = Completion.recipients

    static func declare(_ options: inout ProgramOptions) {
        options.flag("wait", tr("Wait until it is continued there, and say so"))
    }

    private let device: String?
    private let waits: Bool

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        device = try values.arguments(0...1, "send [DEVICE]").first
        waits = values.has("wait")
    }

    func run(in session: Session) async throws -> Int32 {
        if let device, let phone = try await Self.phone(device, in: session) {
            return try await send(to: phone, in: session)
        }
        let bridge = try await session.bridge()
        // From here on, the bridge tells this connection of changes.
        let peers = try await bridge.devices().filter(\.isPaired)
        let peer =
            try device.map { text throws(CommandFailure) in try peers.choose(text) } ?? peers.onlyConnected()
        let outcome = waits ? try await SentOutcome(try await session.broker(), peer.id) : nil
        let sent: SendCall.Outcome
        do {
            sent = try await SendCall(bridge, peer.path).outcome()
        } catch SendCall.Failure.bridgeEnded {
            throw CommandFailure(
                tr("The bridge has ended. What was sent may have arrived; send it again if it has not."),
                .notRunning)
        }
        if case .failed(let name, let message) = sent {
            // The words may be those of the device.
            throw CommandFailure(
                tr(
                    "“{device}” has not received it: “{reason}”",
                    ["device": peer.label.shown, "reason": ChosenText(message: message).shown]),
                errorName: name)
        }
        let words =
            sent == .waits && peer.isConnected
            ? tr("What you used last here was sent to “{device}”.", ["device": peer.label.shown])
            : sent == .waits
                ? tr(
                    "“{device}” is away: what was sent will be shown there when the device is back, within a"
                        + " week (handoff waiting).",
                    ["device": peer.label.shown])
                : tr("What is current here was sent to “{device}”.", ["device": peer.label.shown])
        if outcome != nil, sent == .waits {
            throw CommandFailure(words + " " + tr("It was not continued there yet."))
        }
        guard let outcome else {
            try session.reply(words, peer.json([.init(name: "waits", value: .boolean(sent == .waits))]))
            return 0
        }
        Output.note(words)
        let title = ChosenText(title: try await outcome.title()).shown
        try session.reply(
            tr("“{title}” is continued on “{device}”.", ["title": title, "device": peer.label.shown]),
            peer.json([.init(name: "title", value: .string(title))]))
        return 0
    }
}

extension SendVerb {
    /// The telephone that the user calls `name`; nil if there is none, or a peer is called so.
    @MainLoop
    private static func phone(_ name: String, in session: Session) async throws -> KnownPhone? {
        guard let broker = try await session.running(HandoffNames.broker) else { return nil }
        let found = try await KnownPhone.all(at: broker).filter {
            $0.id == name || $0.name.lowercased() == name.lowercased()
        }
        guard !found.isEmpty else { return nil }
        let peers = try await session.running(HandoffNames.bridge)?.devices().filter(\.isPaired)
        guard peers?.named(name).isEmpty ?? true else { return nil }
        guard found.count == 1 else {
            throw CommandFailure.ambiguous(
                tr("Several telephones are called “{name}”. Name one by its id:", ["name": name.shown]) + "\n"
                    + found.map { "\($0.id.shown)" }.joined(separator: "\n"))
        }
        return found.first
    }

    @MainLoop
    private func send(to phone: KnownPhone, in session: Session) async throws -> Int32 {
        guard !waits else {
            throw CommandFailure.usage(
                tr("No program says when a telephone shows what was sent to it. Leave out --wait."))
        }
        do {
            try await phone.send(by: try await session.broker())
        } catch let error as DBusError {
            throw CommandFailure(FailureText.sendingToPhone(error).line, errorName: error.name.text)
        }
        try session.reply(
            tr("What is current here is being sent to “{device}”.", ["device": phone.label.shown]),
            ["phone": .string(phone.id), "name": .string(phone.label.shown)])
        return 0
    }
}

/// What becomes of what is sent to a device.
@MainLoop
private final class SentOutcome {
    private enum Event: Sendable {
        case continued(String)
        case brokerEnded
        case end
    }

    private let events: AsyncStream<Event>
    private var token: SignalToken?
    private var watch: NameWatch?
    private var signals: EndingSignals?

    /// From now on it is noticed that the device of this id continues something from here.
    init(_ broker: Daemon, _ device: String) async throws {
        let (events, feed) = AsyncStream<Event>.makeStream()
        self.events = events
        let name = broker.name
        token = broker.bus.connection.onSignal(ManagerProxy.interface, "ActivityContinued") { signal in
            var reader = MessageReader(signal)
            guard signal.sender == name, let about: [String: Value] = try? reader.read(),
                about.text("DeviceId") == device
            else { return }
            feed.yield(.continued(about.text("Title")))
        }
        watch = broker.bus.watch(HandoffNames.broker) { if $0 != name { feed.yield(.brokerEnded) } }
        signals = EndingSignals { feed.yield(.end) }
        // The broker tells those of it who have asked for its objects.
        _ = try await broker.brokerObjects()
    }

    /// The title of what is continued there.
    /// - Throws: why nobody waits any more.
    func title() async throws -> String {
        for await event in events {
            switch event {
            case .continued(let title): return title
            case .brokerEnded:
                throw CommandFailure(
                    tr("The broker has ended. What was sent may still be continued there."), .notRunning)
            case .end: throw CommandFailure(tr("It was not continued there yet."))
            }
        }
        throw CommandFailure.busEnded
    }
}

extension [KnownDevice] {
    /// The one peer that is connected, or the only one, for who has not named one.
    func onlyConnected() throws(CommandFailure) -> KnownDevice {
        let connected = filter { $0.isPaired && $0.isConnected }
        guard let device = connected.first else {
            // What is sent waits for it.
            let peers = filter(\.isPaired)
            if let only = peers.first, peers.count == 1 { return only }
            throw CommandFailure(tr("No paired device is connected. See “handoff status”."), .notFound)
        }
        guard connected.count == 1 else {
            let list = connected.table(at: 0).lines.joined(separator: "\n")
            throw .ambiguous(
                trn(
                    "{count} device is connected. Name one of them:",
                    "{count} devices are connected. Name one of them:", count: connected.count) + "\n\(list)")
        }
        return device
    }
}
