// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffCore
internal import HandoffInterfaces
package import MainLoop
internal import Platform

/// This device's way to others: who they are, the links with them, and what goes to and fro between them and
/// the broker.
///
/// Everything that depends on both the trust in a device and the link with it is set in ``reconcile(_:)``.
@MainLoop
package final class Bridge {
    let bus: Bus
    let settings: BridgeSettings
    let state: BridgeState
    private(set) lazy var links = Links(state, self)
    private(set) lazy var carriers: Carriers = Carriers(state, bus) { [weak self] device, isNew in
        if isNew { self?.dials.dialNow(device) } else { self?.carrierLeft(device) }
    }
    private(set) lazy var dials = Dials(state, self, carriers)
    private(set) lazy var devices = Devices(state, self, in: bus.connection.objects)
    private(set) lazy var broker = BrokerClient(bus, settings, state, self)
    private(set) lazy var pairings = Pairings(state, self)
    private(set) lazy var sends = Sends(state, self)
    private(set) lazy var outbox = Outbox(in: folder, self)
    private(set) lazy var introductions = Introductions(state, self)
    private(set) lazy var streams = Streams(state, self, StreamConnector(state, links, carriers))
    private lazy var admission = Admission(state, self)
    private(set) lazy var entrance = Entrance(state, self, admission)
    private(set) lazy var ownPlaces = OwnPlaces(state, self, admission)
    private(set) lazy var whereabouts = PeerWhereabouts(state, discovery)
    private(set) lazy var discovery = Discovery(state, self, Announcer(state, self), isAllowed: discovers)
    private(set) lazy var firewall = Firewall(self, discovers: discovers)
    private(set) lazy var sleep = Sleep(self)
    private lazy var firstSwitch = FirstSwitch { [weak self] in self?.broker.present }
    private(set) lazy var discoverability = Discoverability(bus) { [weak self] in self?.discoverableChanged()
    }

    /// The devices that are trusted.
    private(set) var peers: [DeviceID: Peer] = [:]
    /// What this device offers.
    private(set) var ownOffer: OwnOffer?

    private let discovers: Bool
    private let folder: StateFolder
    private let policy: BusAccessPolicy
    private var network: NetworkMonitor?
    /// Where this machine is in the network, as far as its addresses show that.
    private var place = (addresses: NetworkInterface.ownAddresses(), interfaces: NetworkInterface.all())

    /// How much time the bridge that is replaced has to end.
    private static let successionTime = Duration.seconds(5)

    /// A bridge on `bus`.
    ///
    /// If another bridge has the state folder, this one takes it only in ``begin()``: by then the other one
    /// has lost the bus name, or this one has not got it.
    /// - Throws: what is wrong with the files, for people.
    package init(_ bus: Bus, _ options: BridgeOptions) throws {
        self.bus = bus
        settings = try BridgeSettings(options.configuration)
        folder = StateFolder(options.stateFolder)
        policy = BusAccessPolicy(bus: bus)
        let trust = TrustStore(in: folder)
        state = BridgeState(try Self.openState(folder, trust), trust)
        discovers = options.discovers
        entrance.address = options.listen
        if folder.isLocked { try outbox.load(Set(trust.devices)) }
    }

    private static func openState(_ folder: StateFolder, _ trust: TrustStore) throws -> Identity {
        do {
            try folder.lock()
        } catch let taken as StateFolderTaken {
            guard let identity = try Identity.load(from: folder) else { throw taken }
            return identity
        }
        let identity = try Identity.loadOrMake(in: folder)
        try trust.load()
        return identity
    }

    /// Exports the objects, so that all of them are there when the bus name is requested.
    package func export() {
        let objects = bus.connection.objects
        bus.connection.policy = policy
        bus.connection.gate = firstSwitch
        let own = BridgeObject(
            state, settings, broker, devices, dials, entrance, carriers, discovery, firewall,
            discoverability
        ) { [unowned self] in try trust($0, name: $1) }
        objects.manage(HandoffNames.bridgePath)
        objects.export(HandoffNames.bridgePath, [BridgeBinding(own)])
        objects.export(
            HandoffNames.bridgePeers, [PeerBinding(AllPeersObject(self))], access: .broker, isListed: false)
        for device in state.trust.devices { reconcile(device) }
    }

    /// Begins to talk to the broker and to other devices, once the bus name is ours.
    /// - Throws: if another bridge has the state folder and does not end.
    package func begin() throws {
        if !folder.isLocked {
            try folder.lock(patience: Self.successionTime)
            try state.trust.load()
            try outbox.load(Set(state.trust.devices))
            for device in state.trust.devices { reconcile(device) }
        }
        state.trust.secretsChanged = { [weak self] in self?.discovery.secretsChanged() }
        network = NetworkMonitor { [weak self] in self?.networkChanged() }
        broker.begin()
    }

    /// Ends all links, writes what has not been written yet, and gives up the state folder. The bridge and
    /// its parts keep each other alive, for the life of the process.
    package func end() {
        state.handoff = .unknown
        broker.end()
        entrance.close()
        ownPlaces.update()
        dials.stopAll()
        streams.cutAll("Handoff is ending on this device")
        let cut = MainLoop.now
        for peer in peers.values { if let ownOffer { peer.tellWithdrawnNow(ownOffer.id) } }
        links.finishAll("Handoff is ending on this device")
        state.trust.flush()
        folder.unlock()
        streams.awaitLingering(since: cut)
        bus.connection.objects.unexport(HandoffNames.bridgePath)
    }

    // MARK: The switch

    /// The port that is listened on, 0 for none.
    var port: UInt16 { entrance.port }

    func enabledChanged() {
        // While the machine sleeps nothing begins; that is made up for when it wakes up.
        if broker.isEnabled != true || !sleep.isAsleep {
            bridgeLog.message("Handoff is \(broker.isEnabled == true ? "on" : "off").")
            goByTheSwitch()
        }
        firstSwitch.end()
    }

    /// Does what the user's switch says.
    func goByTheSwitch() {
        state.handoff = broker.isEnabled == true ? .on : .off
        if state.isOn {
            entrance.open()
            discovery.update()
            dials.dialAllNow()
        } else {
            entrance.close()
            ownPlaces.update()
            pairings.stopConnecting()
            discovery.update()
            dials.stopAll()
            streams.cutAll("Handoff was switched off")
            discoverability.set(false)
            // Peers hear first that nothing is offered any more, so that they do not wait for a new link.
            setOwnOffer(nil)
            for peer in peers.values { peer.dropParked() }
            MainLoop.start { [weak self] in
                guard let self, !state.isOn else { return }
                links.closeAllWhenSent("Handoff was switched off")
            }
        }
    }

    // MARK: The network

    private func networkChanged() {
        let new = (addresses: NetworkInterface.ownAddresses(), interfaces: NetworkInterface.all())
        // Not every change of the network matters to this machine.
        if new != place {
            bridgeLog.debug("The network has changed.")
            place = new
            links.check(new.addresses)
        }
        ownPlaces.update()
        discovery.networkChanged()
        firewall.look()
        dials.dialAllNow()
    }

    // MARK: What this device says of itself

    /// What the device at the other end of `link` is told.
    func hello(for link: Link) -> LinkHello {
        let entry = state.trust[link.device]
        guard entry != nil || discoverability.isOn || pairings.active(link.device) != nil else {
            return LinkHello(isPaired: false)
        }
        // A secret that is too old is not named, so that both sides adopt the one of this link, unless they
        // already have.
        let isOver = entry?.isSecretOld(at: MainLoop.wallClock) == true && entry?.secret != link.secret
        return LinkHello(
            isPaired: entry != nil, secret: isOver ? [] : entry?.secret?.id ?? [], name: settings.deviceName,
            type: state.type, port: entry == nil ? 0 : port, places: entry == nil ? nil : ownPlaces.said)
    }

    /// This device now listens elsewhere, or not at all.
    func portChanged() {
        ownPlaces.update()
        propertiesChanged("Port")
        links.sayHello()
        firewall.look()
    }

    /// Whether a connection from the IP address `host` is accepted if its device shows no secret that is
    /// known here.
    func welcomesStranger(from host: String) -> Bool {
        discoverability.isOn || pairings.isUnderWay(with: NetworkSource.name(of: host))
    }

    private func discoverableChanged() {
        links.sayHello()
        links.dismissStrangers()
        discovery.renew()
        propertiesChanged("Discoverable")
    }

    func propertiesChanged(_ names: String...) {
        bus.connection.objects.propertiesChanged(
            HandoffNames.bridgePath, BridgeBinding.description.name, names, tell: .subscribers)
    }

    // MARK: The broker

    func brokerAppeared() {
        for device in state.trust.devices where peers[device] != nil { reconcile(device) }
        streams.brokerAppeared()
    }

    func brokerLost() { setOwnOffer(nil) }
    func brokerGone() { for peer in peers.values { peer.brokerGone() } }

    /// Offers `new` to all peers, now and on each link to come; nil for nothing any more.
    func setOwnOffer(_ new: OwnOffer?) {
        let former = ownOffer
        ownOffer = new
        for peer in peers.values {
            if let new, let link = peer.link {
                // Behind what is being left with the peer, it would say that this device is awake.
                if !sleep.isAsleep { peer.tell(new, over: link) }
            } else if new == nil, let former {
                peer.tellWithdrawn(former.id)
            }
        }
        sleep.update()
    }

    // MARK: Links

    /// Brings everything in line with the trust in `device` and the link with it.
    func reconcile(_ device: DeviceID) {
        let link = links.current[device]
        if state.trust[device] == nil {
            peers.removeValue(forKey: device)?.end()
            sends.forget(device)
            outbox.keep(only: Set(state.trust.devices))
            whereabouts.forget(device)
            streams.cutAll("the device is no longer a peer", with: device)
            broker.remove(device)
            devices.update(device)
            dials.update(device)
            carriers.forget(device)
            introductions.forget(device)
            introductions.update()
            return sleep.update()
        }
        let peer = peers[device] ?? Peer(device, state, self)
        peers[device] = peer
        devices.update(device)
        let usable = link?.isPaired == true ? link : nil
        // The broker first hears of a peer when that can be reached, or has left something here.
        if let shown = devices.state(of: device),
            usable != nil || broker.peer(device) != nil || peer.parkedSince != nil
        {
            broker.add(
                peer,
                BrokerClient.Told(
                    name: shown.name, type: shown.type, link: usable?.number, isMuted: shown.isMuted))
        }
        let isNew = peer.link !== usable
        peer.setLink(usable)
        if isNew, let usable { outbox.linked(peer, usable) }
        dials.update(device)
        introductions.update()
        sleep.update()
    }
}
