// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffDaemon
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What is told of the broker, and what it is asked by.
@MainLoop
protocol BrokerClientOwner: AnyObject {
    /// The bus on which the broker is.
    var bus: Bus { get }
    /// Whether Handoff is on.
    var isOn: Bool { get }
    /// The user's switch as the last broker has left it.
    var isEnabledInSettings: Bool { get }
    /// The user's switch is known, or was changed.
    func enabledChanged()
    /// The user has chosen the name of this device, empty for that of the machine.
    func nameChosen(_ name: String)
    /// The user has chosen the port to listen on, 0 for any.
    func portChosen(_ port: UInt16)
    /// There is a broker, which has yet to be told of everything.
    func brokerAppeared()
    /// The broker that there was is gone.
    func brokerVanished()
}

/// The broker, as the bridge sees it: whether it is there, its switch, and what it has been told.
///
/// It is always called by its unique name: nothing that the bridge does starts one.
@MainLoop
final class BrokerClient {
    /// The user's switch; nil until it is known. Without a broker it is as the last one left it.
    private(set) var isEnabled: Bool?
    private var owner: BusName?
    /// What this broker has told of the user's preferences, which is later than any answer that is looked at later.
    private var toldPreferences: Set<String> = []
    /// What this broker is told of peers.
    private var told: [DeviceID: Told] = [:]
    /// The peers that it has been told of, for whom it takes calls.
    private var added: Set<DeviceID> = []
    private let bridge: any BrokerClientOwner
    private var watch: DaemonWatch?
    private var changes: SignalToken?

    /// What is told of a peer: again when any of it changes.
    struct Told: Equatable {
        let name: String
        let type: String
        /// The number of the link, nil for none.
        let link: Int?
    }

    init(_ bridge: any BrokerClientOwner) { self.bridge = bridge }

    private var connection: Connection { bridge.bus.connection }

    /// The same for what the peer itself asks, which may come in one piece with what its link comes about by: the job that
    /// tells the broker of it stands in line then.
    func callee(of device: DeviceID) async throws -> PeerProxy {
        if told[device] != nil, !added.contains(device) { await Task.yield() }
        guard let proxy = peer(device) else {
            throw HandoffFailure.unreachable(
                "Handoff on the other device", "it is not running. Try again later.")
        }
        return proxy
    }

    /// Begins to look for the broker.
    func begin() {
        changes = connection.onSignal(.properties, "PropertiesChanged") { [weak self] in
            self?.propertiesChanged($0)
        }
        watch = DaemonWatch(HandoffNames.broker, on: bridge.bus, log: bridgeLog) { [weak self] in
            self?.ownerChanged($0)
        }
    }

    /// What takes the calls of the peer `device`; nil without a broker that has been told of it.
    func peer(_ device: DeviceID) -> PeerProxy? {
        guard let owner, added.contains(device),
            let path = try? HandoffNames.peers.appending(device.description)
        else { return nil }
        return PeerProxy(RemoteObject(connection, owner, path))
    }

    // MARK: Coming and going

    private func ownerChanged(_ new: BusName?) {
        guard new != owner || isEnabled == nil else { return }
        let hadOwner = owner != nil
        owner = new
        toldPreferences = []
        told = [:]
        added = []
        bridgeLog.debug("The broker is \(new.map { "\($0)" } ?? "gone").")
        if hadOwner { bridge.brokerVanished() }
        guard let new else {
            if isEnabled == nil { setEnabled(bridge.isEnabledInSettings) }
            return
        }
        MainLoop.start { [weak self] in
            let preferences = await self?.askPreferences(of: new)
            guard let self, owner == new else { return }
            take((preferences ?? [:]).filter { !self.toldPreferences.contains($0.key) })
            if isEnabled == nil || preferences == nil, !toldPreferences.contains("Enabled") {
                setEnabled(bridge.isEnabledInSettings)
            }
            bridge.brokerAppeared()
        }
    }

    /// What the user has chosen, as the broker `name` says, which tells the bridge of changes unasked; nil if it does not
    /// say.
    private func askPreferences(of name: BusName) async -> [String: Value]? {
        let object = RemoteObject(connection, name, HandoffNames.brokerPath)
        do {
            return try await object.properties(PreferencesBinding.description.name)
        } catch {
            bridgeLog.warning(
                "The broker does not say whether Handoff is on: \(HandoffFailure(routed: error))")
            return nil
        }
    }

    /// Has the broker keep the name of this device, which is then called so.
    /// - Throws: why it does not; then nothing has changed.
    func setDeviceName(_ name: String) async throws {
        guard let owner else {
            throw HandoffFailure(
                .connectionUnavailable,
                "The broker, which keeps the name, is not running. Start handoffd, then try again.")
        }
        try await PreferencesProxy(RemoteObject(connection, owner, HandoffNames.brokerPath)).setDeviceName(
            name)
        // Whoever has the reply can read it.
        bridge.nameChosen(name)
    }

    /// Whether Handoff is on, asked of the broker: what it has answered somebody else counts, even if the
    /// word of it is still on its way here.
    func isOnNow() async -> Bool {
        guard let owner else { return bridge.isOn }
        let object = RemoteObject(connection, owner, HandoffNames.brokerPath)
        let answer = try? await ManagerProxy(object).enabled()
        return bridge.isOn && answer != false
    }

    private func propertiesChanged(_ signal: Message) {
        guard let owner, signal.sender == owner, signal.path == HandoffNames.brokerPath else { return }
        var reader = MessageReader(signal)
        guard let interface: String = try? reader.read(),
            interface == PreferencesBinding.description.name.text,
            let changed: [String: Value] = try? reader.read()
        else { return }
        toldPreferences.formUnion(changed.keys)
        take(changed)
    }

    /// The switch comes last: with it the bridge begins to go by the rest.
    private func take(_ preferences: [String: Value]) {
        if let name = preferences["DeviceName"]?.string { bridge.nameChosen(name) }
        if case .uint16(let port)? = preferences["Port"] { bridge.portChosen(port) }
        if case .boolean(let isEnabled)? = preferences["Enabled"] { setEnabled(isEnabled) }
    }

    private func setEnabled(_ new: Bool) {
        guard new != isEnabled else { return }
        isEnabled = new
        bridge.enabledChanged()
    }

    // MARK: Peers

    /// Tells it of a peer, unless it knows that, and of the peer's offer if it had not known the peer.
    func add(_ peer: Peer, _ news: Told) {
        guard let owner, told[peer.device] != news else { return }
        told[peer.device] = news
        MainLoop.start { [weak self] in
            guard let self, self.owner == owner else { return }
            // This call goes out before any other that this allows.
            if added.insert(peer.device).inserted { peer.brokerAppeared() }
            do {
                let properties: [String: Value] = [
                    "Name": .string(news.name), "Type": .string(news.type),
                    "Connected": .boolean(news.link != nil),
                ]
                _ = try await manager(owner).addPeer(
                    deviceId: peer.device.description, properties: properties)
            } catch {
                bridgeLog(
                    level,
                    "The broker did not take the peer \(ChosenText(name: news.name).quoted): \(HandoffFailure(routed: error))"
                )
            }
        }
    }

    /// How much a refusal matters: nothing, if it is because all ends.
    private var level: Log.Level { connection.isClosed ? .debug : .warning }

    // MARK: Streams

    /// Tells it that there is a stream.
    func streamOpened(_ stream: Stream) {
        guard let owner else { return }
        MainLoop.start { [weak self] in
            guard let self, let end = stream.copyOfEnd() else { return }
            do {
                try await manager(owner).streamOpened(
                    number: stream.number, deviceId: stream.owner.device.description,
                    continuation: stream.owner.continuation.description, isOrigin: stream.owner.isOrigin,
                    bridgeEnd: end)
            } catch {
                bridgeLog(level, "The broker did not take \(stream.label): \(error)")
            }
        }
    }

    /// Tells it that a stream is over.
    func streamClosed(_ stream: Stream) {
        guard let owner else { return }
        MainLoop.start { [weak self] in
            guard let self else { return }
            do {
                try await manager(owner).streamClosed(number: stream.number)
            } catch {
                bridgeLog.debug("The broker did not hear of the end of \(stream.label): \(error)")
            }
        }
    }

    private func manager(_ owner: BusName) -> PeerManagerProxy {
        PeerManagerProxy(RemoteObject(connection, owner, HandoffNames.brokerPath))
    }

    /// Tells it that a device is no peer any more, if it was told that it is.
    func remove(_ device: DeviceID) {
        guard let owner, told.removeValue(forKey: device) != nil else { return }
        MainLoop.start { [weak self] in
            guard let self, self.owner == owner else { return }
            added.remove(device)
            do {
                try await manager(owner).removePeer(deviceId: device.description)
            } catch {
                bridgeLog(
                    level, "The broker did not remove the peer \(device): \(HandoffFailure(routed: error))")
            }
        }
    }
}
