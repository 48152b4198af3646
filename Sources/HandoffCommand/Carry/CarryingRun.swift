// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffInterfaces
internal import HandoffSession
internal import HandoffStatus
internal import MainLoop

/// A carrier, and how it stands with the bridge.
@MainLoop
private final class KeptCarrier {
    let entry: CarrierEntry
    let server: CommandCarrier
    /// The peer that it carries to, by its id; nil as long as there is none of that name.
    var device: String?
    /// The object that stands for it at the bridge.
    let path: ObjectPath
    /// The bridge that it is registered with.
    var bridge: BusName?

    init(_ entry: CarrierEntry, _ command: [[UInt8]], at path: ObjectPath, _ said: SaidOnce) {
        (self.entry, self.path) = (entry, path)
        server = CommandCarrier(to: entry.device, by: command, said)
    }
}

/// Carriers that stay registered with the bridge, whichever that is, until the command is to end.
@MainLoop
final class CarryingRun {
    /// Below which their objects are.
    private static let root: ObjectPath = "/org/example/Handoff/Carrier"

    private let session: Session
    private let bus: Bus
    private let isStrict: Bool
    private let events: DaemonEvents
    private let said: SaidOnce
    private let carriers: [KeptCarrier]
    private let repetition = Repetition()
    private var tokens: [SignalToken] = []
    private var bridge: Daemon?
    /// Whether the devices are being looked at.
    private var isLooking = false
    /// Whether something may have changed since they were.
    private var isStale = false

    /// Those of `entries`, each with its command, which begins with the path of a program.
    /// - Parameter isStrict: whether all devices have to be peers. Otherwise those that are not yet are waited for, and what
    ///   fails is told.
    init(
        _ session: Session, _ entries: [(entry: CarrierEntry, command: [[UInt8]])], isStrict: Bool,
        _ said: SaidOnce
    ) throws(CommandFailure) {
        let bus = try session.bus()
        (self.session, self.bus, self.isStrict, self.said) = (session, bus, isStrict, said)
        do {
            carriers = try entries.enumerated().map { number, carrier in
                let path = try Self.root.appending("\(number)")
                return KeptCarrier(carrier.entry, carrier.command, at: path, said)
            }
        } catch {
            throw CommandFailure(error)
        }
        for carrier in carriers {
            bus.connection.objects.export(carrier.path, [CarrierBinding(carrier.server)])
        }
        // Who the bridge is has to be known to the policy before it is known here.
        let policy = BusAccessPolicy(bus: bus, watching: [.bridge])
        policy.seesSandboxes = Sandbox.own == nil
        bus.connection.policy = policy
        events = DaemonEvents(bus, HandoffNames.bridge)
        tokens = [
            bus.connection.onSignal(.objectManager) { [weak self] in self?.changed($0) },
            bus.connection.onSignal(.properties, "PropertiesChanged") { [weak self] in self?.changed($0) },
        ]
    }

    /// Carries until the user wants it to end, which ends all connections.
    /// - Throws: why it cannot go on.
    func run() async throws -> Int32 {
        do {
            try await follow()
        } catch {
            await end()
            throw error
        }
        await end()
        return 0
    }

    private func follow() async throws {
        for await event in events.stream {
            switch event {
            case .end: return
            case .busEnded: throw CommandFailure.busEnded
            case .failed(let failure): throw failure
            case .owner(let owner): try await bridgeChanged(owner)
            }
        }
    }

    private func end() async {
        bridge = nil
        repetition.end()
        let ends = carriers.map { carrier -> Task<Void, Never> in
            MainLoop.start { await carrier.server.end() }
        }
        for end in ends { await end.value }
    }

    // MARK: The bridge

    private func bridgeChanged(_ owner: BusName?) async throws {
        bridge = nil
        repetition.end()
        for carrier in carriers { carrier.bridge = nil }
        guard let owner else { return }
        do {
            bridge = try await session.believed(owner, of: HandoffNames.bridge)
        } catch {
            if isStrict { throw error }
            said.say(CommandFailure(error).message)
        }
        if bridge != nil { look() }
    }

    /// A signal of the bridge may say that there are other peers.
    private func changed(_ signal: Message) {
        guard let bridge, signal.sender == bridge.name else { return }
        var reader = MessageReader(signal)
        switch signal.member {
        case "InterfacesRemoved":
            if let path: ObjectPath = try? reader.read() { forget(path) }
        case "PropertiesChanged":
            guard (try? reader.read(String.self)) == DeviceProxy.interface.text,
                let properties: [String: Value] = try? reader.read(),
                properties["Paired"] != nil || properties["Name"] != nil
            else { return }
            // If it is paired again at once, it has to be registered again.
            if let path = signal.path, properties["Paired"] != nil, !properties.flag("Paired") {
                forget(path)
            }
        default: break
        }
        look()
    }

    /// The device at `path` is no peer any more, so that the bridge may know nothing of carriers to it.
    private func forget(_ path: ObjectPath) {
        for carrier in carriers where carrier.device == String(path.lastElement) { carrier.bridge = nil }
    }

    // MARK: Registering

    /// Registers what is not registered yet, now or after what is under way.
    private func look() {
        isStale = true
        if isLooking { return }
        isLooking = true
        MainLoop.start { [weak self] in await self?.lookUntilNothingChanges() }
    }

    private func lookUntilNothingChanges() async {
        while isStale, let bridge {
            isStale = false
            do {
                try await register(with: bridge)
                repetition.end()
            } catch {
                await failed(error, with: bridge)
            }
        }
        isLooking = false
    }

    private func register(with bridge: Daemon) async throws {
        // From here on, the bridge tells this connection of changes.
        let peers = try await bridge.devices().filter(\.isPaired)
        for carrier in carriers {
            guard let device = try device(of: carrier, among: peers), carrier.bridge != bridge.name
            else { continue }
            do {
                try await bridge.bridge.registerCarrier(
                    deviceId: device, carrier: carrier.path, label: carrier.entry.label)
                // There may be another one by now.
                if self.bridge?.name == bridge.name { carrier.bridge = bridge.name }
            } catch let error as DBusError where !isStrict && !Self.isUnanswered(error) {
                said.say(
                    CommandFailure.unusable(carrier.entry.device, CommandFailure(error).message).message)
            }
        }
    }

    /// The id of the peer that a carrier is for; nil if there is no such peer yet.
    /// - Throws: that there is none, if that is not waited for.
    private func device(of carrier: KeptCarrier, among peers: [KnownDevice]) throws -> String? {
        // Whatever others call themselves meanwhile, it stays the same device as long as that is a peer.
        if let device = carrier.device, peers.contains(where: { $0.id == device }) { return device }
        (carrier.device, carrier.bridge) = (nil, nil)
        do throws(CommandFailure) {
            carrier.device = try peers.choose(carrier.entry.device).id
        } catch {
            if isStrict { throw error }
            if !peers.named(carrier.entry.device).isEmpty { said.say(error.message) }
        }
        return carrier.device
    }

    private func failed(_ error: any Error, with bridge: Daemon) async {
        if let error = error as? DBusError, Self.isUnanswered(error) {
            // Unless it is still there, the watch says what has become of it.
            guard let owner = try? await bus.owner(of: HandoffNames.bridge), owner == bridge.name else {
                return
            }
            // It hangs, and may go on later.
            said.say(CommandFailure(error).message)
            repetition.repeatLater { [weak self] in self?.look() }
        } else if isStrict {
            events.failed(CommandFailure(error))
        } else {
            said.say(CommandFailure(error).message)
        }
    }

    /// Whether the bridge has said nothing, so that nothing is known of what was asked.
    private static func isUnanswered(_ error: DBusError) -> Bool {
        [.noReply, .timeout, .disconnected, .serviceUnknown, .nameHasNoOwner].contains(error.name)
    }
}
