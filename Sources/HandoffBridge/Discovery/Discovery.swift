// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// What finding devices needs from its surroundings.
@MainLoop
protocol DiscoveryOwner: AnyObject {
    /// What can be seen of devices has changed; if `device` is given, it has announced itself.
    func sightingsChanged(_ device: DeviceID?)
    /// The devices that let themselves be discovered and are not peers have changed.
    func strangersChanged()
    /// The reason why devices are not found may have changed, or may be gone.
    func discoveryErrorChanged()
    /// There is another connection with the system bus, or none.
    func systemBusChanged(_ bus: Bus?)
}

/// Finds peers on the same network, and lets them find this device, by way of Avahi.
@MainLoop
final class Discovery {
    /// How many announcements are looked up in a second at most.
    private static let maximumRate = 50
    /// How long after a change of peers announcements are looked at again, since those of the peers change
    /// too.
    private static let settlingTime = Duration.seconds(2)
    /// How long it takes until an announcement whose lookup was not answered is looked up again.
    private static let retryInterval = Duration.seconds(5)
    /// How often Avahi is asked again to look for devices after it has failed, without another reason.
    private static let maximumFailures = 10

    private let state: BridgeState
    private let owner: any DiscoveryOwner
    /// Whether devices are to be found at all.
    private let isAllowed: Bool
    private let announcer: Announcer
    private var avahi: Avahi?
    private var isRunning = false
    private var browsing: Task<Void, Never>?
    private var browser: AvahiBrowser? {
        didSet { owner.discoveryErrorChanged() }
    }
    private var sightings = Sightings()
    private var announced = AnnouncedAddresses()
    private var rate = EventRate(limit: maximumRate)
    private var rest: LoopSource?
    private var settling: LoopSource?
    private var retry: LoopSource?
    /// Asks Avahi again to look for devices.
    private let repetition = Repetition()
    private let connect: SystemBus.Connect
    private lazy var system = SystemBus(log: bridgeLog, connect) { [weak self] in self?.busChanged($0) }
    /// The devices that let themselves be discovered, as the bus was told last.
    private(set) var strangers: [Sightings.Stranger] = []

    /// Has `announcer` announce this device while devices can be found, which they are only if that is
    /// allowed. `connect` reaches the system bus.
    init(
        _ state: BridgeState, _ owner: any DiscoveryOwner, _ announcer: Announcer, isAllowed: Bool,
        connect: @escaping SystemBus.Connect = { try await Bus.connect(.system) }
    ) {
        (self.state, self.owner) = (state, owner)
        self.announcer = announcer
        self.isAllowed = isAllowed
        self.connect = connect
    }

    /// Why devices are not found by themselves; none if they are, or if they are not meant to be.
    var error: ShownError {
        if !isAllowed || !state.isOn || browser != nil || browsing != nil && repetition.count == 0 {
            return .none
        }
        if system.isConnecting { return .none }
        if system.bus == nil {
            return ShownError(.disconnected, "There is no system bus, which is needed to reach Avahi.")
        }
        return isRunning
            ? ShownError(.failed, "Avahi does not accept questions.")
            : ShownError(.serviceUnknown, "Avahi is not running.")
    }

    // MARK: Coming and going

    /// To be called when Handoff was switched on or off.
    func update() {
        if state.isOn { system.connect() }
        avahiChanged(isRunning)
    }

    private func stop() {
        announcer.stop()
        browsing?.cancel()
        (browsing, browser, rest, settling, retry) = (nil, nil, nil, nil, nil)
        repetition.pause()
        // With Avahi gone, what it reported last is the best that is known.
        announced.note(sightings.addresses, at: MainLoop.now)
        if state.isOn { sightings.avahiVanished() } else { sightings.clear() }
        changed(nil)
    }

    private func busChanged(_ bus: Bus?) {
        owner.systemBusChanged(bus)
        avahi = nil
        avahiChanged(false)
        guard isAllowed, let bus else { return }
        avahi = Avahi(bus) { [weak self] in self?.avahiChanged($0) }
    }

    private func avahiChanged(_ isRunning: Bool) {
        self.isRunning = isRunning
        guard let avahi, isRunning, state.isOn else { return stop() }
        announcer.start(avahi)
        repetition.end()
        browse()
    }

    // MARK: What changes

    /// From now on, this device is to look like another one to everybody but its peers.
    func renew() { announcer.renew() }

    /// This machine is on another network, or the devices on its network may be elsewhere.
    func networkChanged() {
        guard state.isOn else { return }
        system.connect()
        avahi?.askState()
        announcer.networkChanged()
        repetition.end()
        if isRunning, browser == nil { browse() }
        // The addresses of another network belong to nobody here.
        if !isRunning {
            announced.note(sightings.addresses, at: MainLoop.now)
            sightings.dropStale()
            changed(nil)
        }
        lookAgain()
    }

    /// The peers or their secrets have changed.
    func secretsChanged() {
        announcer.update()
        lookAgain()
    }

    private func lookAgain() {
        guard browser != nil else { return }
        settling = .timer(after: Self.settlingTime) { [weak self] in
            guard let self else { return }
            sightings.refresh(Set(state.trust.entries.keys))
            lookUp()
        }
    }

    /// This device has another name.
    func nameChanged() { announcer.update() }

    // MARK: Looking

    private func browse() {
        guard let avahi else { return }
        browsing?.cancel()
        browser = nil
        repetition.pause()
        browsing = MainLoop.start { [weak self] in
            do {
                let browser = try await AvahiBrowser(avahi) { [weak self] in self?.happened($0) }
                guard !Task.isCancelled else { return }
                self?.browser = browser
                self?.lookUp()
            } catch {
                guard !Task.isCancelled else { return }
                self?.browsingFailed("\(error)")
            }
        }
    }

    private func browsingFailed(_ reason: String) {
        state.refusals.note("Devices cannot be looked for: \(PeerText.message(reason))")
        browser = nil
        sightings.avahiVanished()
        repetition.repeatLater(atMost: Self.maximumFailures) { [weak self] in self?.browse() }
    }

    private func happened(_ event: AvahiBrowser.Event) {
        switch event {
        case .appeared(let service):
            guard !announcer.isOwn(service.name) else { return }
            sightings.appeared(service)
            lookUp()
        case .vanished(let service):
            if let address = sightings.address(of: service) { announced.note([address], at: MainLoop.now) }
            if sightings.vanished(service) { changed(nil) }
        case .completed:
            repetition.end()
            announced.note(sightings.addresses, at: MainLoop.now)
            sightings.avahiCompleted()
            changed(nil)
        case .failed(let reason): browsingFailed(reason)
        }
    }

    private func lookUp() {
        guard let browser, rest == nil else { return }
        while true {
            let now = Instant.now
            let next = rate.nextAllowed(at: now)
            guard next <= now else {
                rest = .timer(after: now.duration(to: next)) { [weak self] in
                    self?.rest = nil
                    self?.lookUp()
                }
                return
            }
            guard let service = sightings.next() else { return }
            _ = rate.count(at: now)
            MainLoop.start { [weak self] in await self?.lookUp(service, browser) }
        }
    }

    private func lookUp(_ service: AvahiBrowser.Service, _ browser: AvahiBrowser) async {
        let resolved = try? await browser.resolve(service)
        let found = resolved.flatMap { self.found(service, $0) }
        let outcome: Sightings.Outcome = resolved == nil ? .unanswered : found.map { .found($0) } ?? .useless
        let known = [sightings.address(of: service), found?.address].compactMap { $0 }
        announced.note(known, at: MainLoop.now)
        if sightings.lookedUp(service, outcome) { changed(nil) }
        if retry == nil, sightings.hasUnanswered {
            retry = .timer(after: Self.retryInterval) { [weak self] in
                self?.retry = nil
                self?.sightings.retryUnanswered()
                self?.lookUp()
            }
        }
        if let found {
            let whose = found.device.map { state.label(of: $0) } ?? "no peer"
            bridgeLog.debug("An announcement of \(whose) was found: \(found.address).")
            changed(found.device)
        }
        lookUp()
    }

    private func found(_ service: AvahiBrowser.Service, _ resolved: AvahiBrowser.Resolved) -> Sightings.Found?
    {
        guard let instance = Base32.decode(service.name), instance.count == Announcement.instanceSize,
            let announcement = Announcement(text: resolved.text),
            let interface = NetworkInterface.all().first(where: { $0.index == service.interface }),
            let address = interface.reachable(resolved.address, port: resolved.port)
        else { return nil }
        let device = DiscoveryTag.device(
            announcement.tags, instance: instance, port: resolved.port,
            hour: DiscoveryTag.hour(at: MainLoop.wallClock), among: state.trust.allPeerSecrets)
        return Sightings.Found(
            address: address, instance: instance, announcement: announcement, device: device)
    }

    /// What can be seen has changed; if `device` is given, it has announced itself.
    private func changed(_ device: DeviceID?) {
        owner.sightingsChanged(device)
        let new = sightings.strangers
        guard new != strangers else { return }
        strangers = new
        owner.strangersChanged()
    }

    // MARK: What is there

    /// Where `device` says that it is, as far as that is on a network that this machine has now.
    func reachableAddresses(of device: DeviceID) -> [NetworkAddress] {
        let interfaces = NetworkInterface.all()
        return addresses(of: device).filter { address in interfaces.contains { $0.isOnLink(address) } }
    }

    /// Where `device` says that it is.
    func addresses(of device: DeviceID) -> [NetworkAddress] { sightings.addresses(of: device) }

    /// Whether somebody announces `address` as its own, or did a short time ago.
    func announces(_ address: NetworkAddress) -> Bool {
        sightings.contains(address) || announced.contains(address, at: MainLoop.now)
    }
}
