// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// What announcing this device needs from its surroundings.
@MainLoop
protocol AnnouncerOwner: AnyObject {
    /// The port that is listened on, 0 for none.
    var port: UInt16 { get }
    /// The name that everybody is told; empty for none.
    var announcedName: String { get }
    /// Whether somebody who connects to `host`, an IP address of this machine, arrives where this device
    /// listens.
    func listens(at host: String) -> Bool
    /// Listens on another port from now on, unless the user has chosen it.
    func renewPort()
}

/// Announces this device on each network, under names that nobody can connect with those it had before
/// (protocol.md, "Announcement").
@MainLoop
final class Announcer {
    /// What is announced on one network.
    private final class Publication {
        let interface: NetworkInterface
        let instance = RandomBytes.make(Announcement.instanceSize)
        let host = "\(Base32.encode(RandomBytes.make(Announcement.instanceSize))).local"
        let port: UInt16
        var fillers = DiscoveryTag.makeFillers()
        var task: Task<Void, Never>?
        /// The group in Avahi; nil until it is published.
        var group: AvahiEntryGroup?

        init(_ interface: NetworkInterface, port: UInt16) {
            self.interface = interface
            self.port = port
        }

        var name: String { Base32.encode(instance) }
    }

    /// How long after the hour the tags change at the latest, in microseconds, so that not all devices change
    /// them at once.
    private static let spread: Int64 = 300_000_000
    private static let hourLength: Int64 = 3_600_000_000
    /// How often an announcement that has failed is tried again without another reason.
    private static let maximumRetries = 10

    private let state: BridgeState
    private let owner: any AnnouncerOwner
    private var avahi: Avahi?
    private var publications: [Int32: Publication] = [:]
    private var interfaces: [NetworkInterface] = []
    /// The port that was announced last; 0 if there was none yet.
    private var announcedPort: UInt16 = 0
    /// The hour that the tags are for.
    private var hour: UInt64 = 0
    private lazy var turn = WallClockTimer { [weak self] in self?.turnHour() }
    private let repetition = Repetition()

    init(_ state: BridgeState, _ owner: any AnnouncerOwner) { (self.state, self.owner) = (state, owner) }

    /// Whether `name` is an instance of this device.
    func isOwn(_ name: String) -> Bool { publications.values.contains { $0.name == name } }

    // MARK: Life

    /// Announces by way of `avahi` from now on.
    func start(_ avahi: Avahi) {
        self.avahi = avahi
        repetition.end()
        renew()
    }

    /// Announces nothing any more.
    func stop() {
        avahi = nil
        repetition.end()
        turn.cancel()
        withdraw()
    }

    private func withdraw() {
        for publication in publications.values {
            publication.task?.cancel()
            publication.group = nil
        }
        publications = [:]
    }

    /// Announces the device anew, so that it looks like another one to everybody but its peers.
    func renew() {
        guard avahi != nil else { return }
        withdraw()
        if owner.port == announcedPort { owner.renewPort() }
        setHour()
        interfaces = NetworkInterface.all()
        guard owner.port > 0 else { return }
        announcedPort = owner.port
        for interface in interfaces { publish(interface) }
    }

    /// Renews the announcements if the machine is on other networks than before, or has other addresses.
    func networkChanged() {
        repetition.end()
        guard avahi != nil else { return }
        if NetworkInterface.all() != interfaces { renew() } else { publishMissing() }
    }

    /// There are other peers, or another name.
    func update() {
        for publication in publications.values where publication.group != nil { updateText(publication) }
    }

    // MARK: Hours

    private func setHour() {
        let now = MainLoop.wallClock
        hour = DiscoveryTag.hour(at: now)
        var generator = UnpredictableNumbers()
        turn.set((Int64(hour) + 1) * Self.hourLength + Int64.random(in: 0...Self.spread, using: &generator))
    }

    private func turnHour() {
        let former = hour
        setHour()
        // This is also called when the clock was set.
        guard hour != former else { return }
        for publication in publications.values { publication.fillers = DiscoveryTag.makeFillers() }
        update()
    }

    // MARK: One network

    private func publish(_ interface: NetworkInterface) {
        let addresses = interface.announcedAddresses.filter(owner.listens)
        guard let avahi, !addresses.isEmpty, owner.port > 0 else { return }
        let publication = Publication(interface, port: owner.port)
        publications[interface.index] = publication
        publication.task = MainLoop.start { [weak self] in
            do {
                let group = try await AvahiEntryGroup(avahi) { [weak self, weak publication] event in
                    if let publication { self?.happened(event, publication) }
                }
                for address in addresses {
                    try await group.add(address, of: publication.host, on: interface.index)
                }
                guard let self else { return }
                let service = service(publication)
                try await group.add(service)
                try await group.commit()
                guard !Task.isCancelled, publications[interface.index] === publication else { return }
                publication.group = group
                // Something may have changed meanwhile.
                if self.service(publication).text != service.text { updateText(publication) }
            } catch {
                guard !Task.isCancelled else { return }
                self?.failed(publication, "\(error)")
            }
        }
    }

    private func service(_ publication: Publication) -> AvahiEntryGroup.Service {
        let subject = DiscoveryTag.Subject(
            device: state.ownID, instance: publication.instance, port: publication.port)
        let announcement = Announcement(
            tags: DiscoveryTag.all(
                subject, for: state.trust.peerSecrets, hour: hour, fillers: publication.fillers),
            name: owner.announcedName)
        return AvahiEntryGroup.Service(
            interface: publication.interface.index, name: publication.name, host: publication.host,
            port: publication.port, text: announcement.text)
    }

    private func updateText(_ publication: Publication) {
        let service = service(publication)
        MainLoop.start { [weak self] in
            do {
                try await publication.group?.update(service)
            } catch {
                self?.failed(publication, "\(error)")
            }
        }
    }

    private func happened(_ event: AvahiEntryGroup.Event, _ publication: Publication) {
        switch event {
        case .established:
            repetition.end()
            bridgeLog.debug("This device is announced by \(publication.interface.name).")
        case .collision: failed(publication, "somebody else has the same name")
        case .failure(let reason): failed(publication, reason)
        }
    }

    private func failed(_ publication: Publication, _ reason: String) {
        let interface = publication.interface
        guard publications[interface.index] === publication else { return }
        publication.task?.cancel()
        publications[interface.index] = nil
        let text = PeerText.message(reason)
        state.refusals.note("This device is not announced by \(interface.name): \(text)")
        guard !repetition.isDue else { return }
        repetition.repeatLater(atMost: Self.maximumRetries) { [weak self] in self?.publishMissing() }
    }

    private func publishMissing() {
        for interface in interfaces where publications[interface.index] == nil { publish(interface) }
    }
}
