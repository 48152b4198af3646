// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

// This file is long because whether there is a broker, and what it was told, is one state.

/// Whoever is told about the broker.
@MainLoop
protocol BrokerClientOwner: AnyObject {
    /// The user's switch is known, or was changed.
    func enabledChanged()
    /// The user has chosen these of the broker's preferences.
    func chosen(_ preferences: [String: Value])
    /// There is a broker, which has yet to be told of everything.
    func brokerAppeared()
    /// The way to the broker is lost: what it offers is not known any more. It may be met again.
    func brokerLost()
    /// The broker has left the bus, and does not come back.
    func brokerGone()
    /// ``BrokerClient/hasLeft`` is another.
    func leftChanged()
    /// Much waits to be read by the broker, or no longer: then nothing more should be taken in for it.
    func brokerCrowded(_ isCrowded: Bool)
}

/// The broker, as the bridge sees it: whether it is there, its switch, and what it has been told.
///
/// The broker is always called by its unique name: nothing that the bridge does starts a broker.
@MainLoop
final class BrokerClient {
    /// The user's switch; nil until it is known. Without a broker, it is what the last one left.
    private(set) var isEnabled: Bool?
    /// Whether something is open here while nothing is current.
    private(set) var hasLeft = false {
        didSet { if hasLeft != oldValue { bridge.leftChanged() } }
    }
    /// The broker, once it can be told of everything.
    private(set) var owner: BusName?
    /// The broker that is on the bus.
    private(set) var present: BusName?
    /// Counts the brokers, and the times that one was met.
    private var meetings = 0
    private var hasEnded = false
    private var unheard: LoopSource?
    /// The preferences of the user that this broker has announced. An announcement is newer than any answer
    /// that is looked at after it.
    private var toldPreferences: Set<String> = []
    /// What this broker has been told about each peer.
    private var told: [DeviceID: Told] = [:]
    /// The peers that the broker has been told of, and for which it takes calls.
    private var added: Set<DeviceID> = []
    private let bus: Bus
    private let settings: BridgeSettings
    private let state: BridgeState
    private let bridge: any BrokerClientOwner
    private var watch: OwnerWatch?
    private var changes: SignalToken?

    /// What the broker is told of a peer, and told again when any of it changes.
    struct Told: Equatable {
        let name: String
        let type: String
        /// The number of the link; nil if there is none.
        let link: Int?
        /// Whether what the peer sends is not shown as sent.
        let isMuted: Bool
    }

    /// How long a bridge that has just begun waits for what the broker says of the switch.
    private static let patience = Duration.seconds(5)
    private static let whileItIsThere = Duration.seconds(10 * 365 * 86_400)
    /// How long a call of the user waits for the broker.
    private static let answerTime = Duration.seconds(1)

    /// - Parameters:
    ///   - bus: the bus on which the broker is.
    ///   - settings: the user's switch as the last broker left it.
    init(_ bus: Bus, _ settings: BridgeSettings, _ state: BridgeState, _ bridge: any BrokerClientOwner) {
        (self.bus, self.settings, self.state, self.bridge) = (bus, settings, state, bridge)
    }

    private var connection: Connection { bus.connection }

    /// What takes the calls of the peer `device`, for a request from the peer itself. The request may arrive
    /// together with what establishes the peer's link; then the job that tells the broker of the peer is
    /// still waiting, and gets its turn first.
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
        watch = OwnerWatch(bus, HandoffNames.broker, log: bridgeLog) { [weak self] in
            self?.ownerChanged($0)
        }
    }

    /// What takes the calls of the peer `device`; nil unless there is a broker that has been told of the
    /// peer.
    func peer(_ device: DeviceID) -> PeerProxy? {
        guard let owner, added.contains(device),
            let path = try? HandoffNames.peers.appending(device.description)
        else { return nil }
        return PeerProxy(RemoteObject(connection, owner, path))
    }

    // MARK: Coming and going

    /// The bridge is ending: no broker is met any more.
    func end() {
        hasEnded = true
        meetings += 1
    }

    private func ownerChanged(_ new: BusName?) {
        guard !hasEnded, new != present || isEnabled == nil else { return }
        bridgeLog.debug("The broker is \(new.map { "\($0)" } ?? "gone").")
        let former = present
        if let former { connection.detach(former) }
        present = new
        meet(new, attaching: true)
        if let former, former != new { bridge.brokerGone() }
    }

    /// Begins anew with the broker, if there is one.
    private func meet(_ new: BusName?, attaching: Bool) {
        let hadOwner = owner != nil
        owner = nil
        meetings += 1
        bridge.brokerCrowded(false)
        toldPreferences = []
        told = [:]
        added = []
        hasLeft = false
        if hadOwner { bridge.brokerLost() }
        guard let new else {
            if isEnabled == nil { setEnabled(settings.isEnabled) }
            return
        }
        let meeting = meetings
        if isEnabled == nil {
            unheard = .timer(after: Self.patience) { [weak self] in self?.brokerUnheard() }
        }
        MainLoop.start { [weak self] in
            let isThere = attaching ? await self?.attach(to: new, meeting) : true
            guard let self, meeting == meetings, isThere == true else { return }
            owner = new
            let preferences = await askPreferences(of: new)
            guard meeting == meetings else { return }
            take((preferences ?? [:]).filter { !self.toldPreferences.contains($0.key) })
            if isEnabled == nil || preferences == nil, !toldPreferences.contains("Enabled") {
                setEnabled(settings.isEnabled)
            }
            bridge.brokerAppeared()
            let left = try? await RemoteObject(connection, new, HandoffNames.brokerPath).property(
                ManagerProxy.interface, "LeftActivity", as: ObjectPath.self)
            if meeting == meetings { hasLeft = left ?? .root != .root }
        }
    }

    /// The broker does not say whether Handoff is on, perhaps because it is stopped: what the last one left counts.
    private func brokerUnheard() {
        if isEnabled == nil { setEnabled(settings.isEnabled) }
    }

    /// From now on the broker is talked to past the bus. One that cannot do that is talked to on the bus.
    /// - Returns: false if it is gone, which the bus is about to say.
    private func attach(to new: BusName, _ meeting: Int) async -> Bool {
        do {
            // However late the answer comes, the broker counts on the socket then; so it is waited for as long as there is that
            // broker.
            let socket = AttachedSocket(try await manager(new).attach(timeout: Self.whileItIsThere), to: new)
            guard meeting == meetings else { return false }
            socket.onEnded = { [weak self, weak socket] in
                self?.socketEnded(meeting, hasLasted: socket?.hasLasted ?? false)
            }
            socket.onCrowding = { [weak self, weak socket] in
                self?.bridge.brokerCrowded(socket?.isCrowded == true)
            }
            connection.attach(socket)
            return true
        } catch {
            guard DBusError.converting(error).name != .serviceUnknown else { return false }
            bridgeLog.debug("The broker is talked to on the bus: \(HandoffFailure(routed: error))")
            return true
        }
    }

    /// The broker is gone, which the bus is about to say; or the socket was ended, and another one takes its place, unless
    /// sockets to this broker do not last.
    private func socketEnded(_ meeting: Int, hasLasted: Bool) {
        guard meeting == meetings, let present else { return }
        meet(present, attaching: hasLasted)
    }

    /// What the user has chosen, according to the broker `name`; nil if it does not say. The broker announces
    /// changes unasked.
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

    /// Has the broker save the name of this device, which takes effect then.
    /// - Throws: why the broker does not; then nothing has changed.
    func setDeviceName(_ name: String) async throws {
        guard let owner = present else {
            throw HandoffFailure(
                .connectionUnavailable,
                "The broker, which keeps the name, is not running. Start handoffd, then try again.")
        }
        try await PreferencesProxy(RemoteObject(connection, owner, HandoffNames.brokerPath)).setDeviceName(
            name)
        // Whoever has the reply can already read the new name.
        bridge.chosen(["DeviceName": .string(name)])
    }

    /// Whether Handoff is on, as the broker says when it is asked: what it has just told somebody else
    /// counts, even if the news of that is still on its way here. A broker that does not answer is not waited for: what it
    /// has said before counts.
    func isOnNow() async -> Bool {
        guard let owner = present else { return state.isOn }
        let object = RemoteObject(connection, owner, HandoffNames.brokerPath)
        let answer = try? await object.property(
            ManagerProxy.interface, "Enabled", as: Bool.self, timeout: Self.answerTime)
        return state.isOn && answer != false
    }

    private func propertiesChanged(_ signal: Message) {
        guard let owner, signal.sender == owner, signal.path == HandoffNames.brokerPath else { return }
        var reader = MessageReader(signal)
        guard let interface: String = try? reader.read(), let changed: [String: Value] = try? reader.read()
        else { return }
        if interface == ManagerProxy.interface.text, case .objectPath(let left)? = changed["LeftActivity"] {
            hasLeft = left != .root
        }
        guard interface == PreferencesBinding.description.name.text else { return }
        toldPreferences.formUnion(Self.preferences.intersection(changed.keys))
        take(changed)
    }

    /// Those that concern a bridge.
    private static let preferences = Set([
        "DeviceName", "Port", "ShareAddresses", "Introduces", "Park", "ExcludedApplications", "Enabled",
    ])

    /// The switch comes last, since with it the bridge begins to act on the rest.
    private func take(_ preferences: [String: Value]) {
        bridge.chosen(preferences)
        if case .boolean(let isEnabled)? = preferences["Enabled"] { setEnabled(isEnabled) }
    }

    private func setEnabled(_ new: Bool) {
        guard new != isEnabled else { return }
        isEnabled = new
        unheard = nil
        bridge.enabledChanged()
    }

    // MARK: Peers

    /// Tells the broker of a peer, unless it already knows all of this, and of the peer's offer if it did not
    /// know the peer.
    func add(_ peer: Peer, _ news: Told) {
        guard let owner, told[peer.device] != news else { return }
        told[peer.device] = news
        MainLoop.start { [weak self] in
            guard let self, self.owner == owner else { return }
            // This call goes out before any other call that it makes possible.
            if added.insert(peer.device).inserted { peer.brokerAppeared() }
            do {
                let properties: [String: Value] = [
                    "Name": .string(news.name), "Type": .string(news.type),
                    "Connected": .boolean(news.link != nil), "Muted": .boolean(news.isMuted),
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

    /// Tells the broker that the next invitation of `device` came here at `time`, by the wall clock. Nobody waits for an
    /// answer, since the invitation follows at once.
    func willInvite(_ device: DeviceID, at time: Int64) {
        guard let owner else { return }
        do {
            try RemoteObject(connection, owner, HandoffNames.brokerPath).post(
                PeerManagerBinding.description.name, "WillInvite"
            ) { (writer) throws(DBusError) in
                try writer.write(device.description)
                try writer.write(time)
            }
        } catch {
            bridgeLog.debug("The broker does not hear when an invitation came: \(error)")
        }
    }

    /// What is to be left with others before the machine sleeps; throws why that is nothing.
    func park(within limit: Duration) async throws -> PeerManagerParkReply {
        try await knownManager().park(timeout: limit)
    }

    /// What else is to be left with peers, each with `Open` in its summary; throws if the broker does not say.
    func parkAside(within limit: Duration) async throws -> [PeerManagerParkReply] {
        try await knownManager().parkAside(timeout: limit).map { one in
            let (id, summary, payload) = one.fields
            return PeerManagerParkReply(
                activity: id, summary: summary.merging(["Open": .boolean(true)]) { $1 },
                payload: try PackedProperties(payload))
        }
    }

    /// What is to be kept for a device that is away; throws why that is nothing.
    func save() async throws -> PeerManagerSaveReply { try await knownManager().save(timeout: Peer.timeout) }

    /// What is open at `device`, as objects of the broker; throws why it does not say.
    func listActivities(of device: DeviceID) async throws -> [ObjectPath] {
        guard let owner, added.contains(device) else {
            throw HandoffFailure(
                .connectionUnavailable, "The broker, which lists them, is not running. Start handoffd.")
        }
        do {
            return try await manager(owner).listActivities(
                deviceId: device.description, timeout: Peer.timeout * 3)
        } catch {
            throw HandoffFailure(routed: error)
        }
    }

    private func knownManager() throws -> PeerManagerProxy {
        guard let owner else {
            throw HandoffFailure(.offerWithdrawn, "Nothing is offered: handoffd is not running. Start it.")
        }
        return manager(owner)
    }

    /// How much a refusal matters: not at all if everything is ending.
    var level: Log.Level { connection.isClosed ? .debug : .warning }

    /// The broker's interface for the bridge.
    func manager(_ owner: BusName) -> PeerManagerProxy {
        PeerManagerProxy(RemoteObject(connection, owner, HandoffNames.brokerPath))
    }

    /// Tells the broker that a device is no longer a peer, if it was told that it was one.
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
