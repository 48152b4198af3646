// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// The announcements that can be seen: which of them still have to be looked up, and whom the others belong
/// to.
///
/// Whoever is on the network decides how many announcements there are, so both their number and the number of
/// lookups at a time are limited. This is a plain value: what is seen goes in, and what is to be done comes
/// out.
struct Sightings {
    typealias Service = AvahiBrowser.Service

    /// What is known about an announcement that has been looked up.
    struct Found: Equatable {
        let address: NetworkAddress
        let instance: [UInt8]
        let announcement: Announcement
        /// The peer that it belongs to; nil if it does not belong to a peer.
        var device: DeviceID?
    }

    /// A device that lets itself be discovered and is not a peer.
    struct Stranger: Equatable {
        let name: String
        var addresses: [NetworkAddress]
    }

    private enum State {
        case waiting
        case lookedUp
        /// Whatever can be known about it is known.
        case known
        /// The lookup was not answered.
        case unanswered
    }

    /// The result of looking up an announcement.
    enum Outcome {
        case found(Found)
        /// The announcement is of no use: not on this network, or not of this version.
        case useless
        /// The lookup was not answered.
        case unanswered
    }

    /// An announcement that can be seen.
    private struct Entry {
        /// Each announcement that appears gets a higher number.
        let number: Int
        var state = State.waiting
        /// How often a lookup was not answered.
        var failures = 0
        /// What was found last, which still counts while it is looked up again.
        var found: Found?
    }

    /// How many announcements are kept; if there are more, some that are of no use go.
    static let maximum = 512
    /// How many announcements are looked up at a time.
    static let maximumLookups = 64
    /// How many strangers are shown.
    static let maximumStrangers = 32
    /// How often an announcement is looked up if the lookups are not answered.
    static let maximumFailures = 4

    private var entries: [Service: Entry] = [:]
    private var nextNumber = 0
    /// The announcements that wait to be looked up, the oldest first; some of them may have gone.
    private var queue: [Service] = []
    private var lookups = 0
    /// The announcements that were there before Avahi's last restart and have not been seen since.
    private var stale: Set<Service> = []

    /// What was found and `matches`, in the order in which it appeared.
    private func found(where matches: (Found) -> Bool) -> [Found] {
        let entries = entries.values.filter { $0.found.map(matches) == true }
        return entries.sorted { $0.number < $1.number }.compactMap(\.found)
    }

    // MARK: Events

    /// `service` is there. It is looked up unless it is known already.
    mutating func appeared(_ service: Service) {
        stale.remove(service)
        guard entries[service] == nil else { return }
        makeRoom()
        guard entries.count < Self.maximum else { return }
        nextNumber += 1
        entries[service] = Entry(number: nextNumber)
        enqueue(service)
    }

    private mutating func enqueue(_ service: Service) {
        if queue.count >= 2 * Self.maximum { queue = queue.filter(isWaiting) }
        queue.append(service)
    }

    /// Takes away one announcement that is of no use, whichever it is: otherwise whoever announces most would
    /// keep the others out.
    private mutating func makeRoom() {
        guard entries.count >= Self.maximum else { return }
        let victim = entries.filter { _, entry in
            if case .lookedUp = entry.state { false } else { entry.found?.device == nil }
        }.keys.randomElement()
        if let victim { entries[victim] = nil }
    }

    private func isWaiting(_ service: Service) -> Bool {
        if case .waiting? = entries[service]?.state { true } else { false }
    }

    /// `service` is no longer there.
    /// - Returns: whether it was one that had been found.
    mutating func vanished(_ service: Service) -> Bool {
        stale.remove(service)
        return entries.removeValue(forKey: service)?.found != nil
    }

    /// The next announcement to be looked up now; nil if there is none, or if too many lookups are under way.
    mutating func next() -> Service? {
        guard lookups < Self.maximumLookups else { return nil }
        while !queue.isEmpty {
            let service = queue.removeFirst()
            guard isWaiting(service) else { continue }
            entries[service]?.state = .lookedUp
            lookups += 1
            return service
        }
        return nil
    }

    /// Looking `service` up has ended.
    /// - Returns: whether what is there has changed.
    mutating func lookedUp(_ service: Service, _ outcome: Outcome) -> Bool {
        lookups -= 1
        // It may have gone meanwhile.
        guard var entry = entries[service], case .lookedUp = entry.state else { return false }
        let former = entry.found
        entry.state = .known
        switch outcome {
        case .found(let found): entry.found = found
        case .useless: entry.found = nil
        case .unanswered:
            entry.state = .unanswered
            entry.failures += 1
        }
        entries[service] = entry
        return entry.found != former
    }

    /// Whether some announcements are to be looked up again after a while.
    var hasUnanswered: Bool { entries.values.contains(where: Self.isToBeRetried) }

    private static func isToBeRetried(_ entry: Entry) -> Bool {
        if case .unanswered = entry.state { entry.failures < maximumFailures } else { false }
    }

    /// Looks up again those whose lookups were not answered.
    mutating func retryUnanswered() {
        for (service, entry) in entries where Self.isToBeRetried(entry) { lookUpAgain(service) }
    }

    private mutating func lookUpAgain(_ service: Service) {
        entries[service]?.state = .waiting
        enqueue(service)
    }

    /// The peers or their secrets have changed, or this machine is on other networks: what does not belong to
    /// one of `peers` is looked up once more, since it may belong to one now.
    mutating func refresh(_ peers: Set<DeviceID>) {
        for (service, entry) in entries {
            switch entry.state {
            case .waiting, .lookedUp: continue
            case .known, .unanswered: if let device = entry.found?.device, peers.contains(device) { continue }
            }
            entries[service]?.failures = 0
            lookUpAgain(service)
        }
    }

    /// Avahi is gone: what was seen still counts until it is clear whether it is still there.
    mutating func avahiVanished() {
        queue = []
        entries = entries.filter { $0.value.found != nil }
        for service in entries.keys { entries[service]?.state = .known }
        stale = Set(entries.keys)
    }

    /// Avahi has reported everything that it knows.
    mutating func avahiCompleted() {
        dropStale()
    }

    /// What was seen before Avahi ended no longer counts.
    mutating func dropStale() {
        for service in stale { entries[service] = nil }
        stale = []
    }

    /// Nothing is looked for any more.
    mutating func clear() { (entries, queue, stale) = ([:], [], []) }

    // MARK: What is there

    /// How many announcements are kept.
    var count: Int { entries.count }
    /// How many announcements wait to be looked up, including some that have gone.
    var waitingCount: Int { queue.count }

    /// Where `device` says that it is.
    func addresses(of device: DeviceID) -> [NetworkAddress] {
        found { $0.device == device }.map(\.address).reduce(into: []) { addresses, address in
            if !addresses.contains(address) { addresses.append(address) }
        }
    }

    /// Where all announced devices say that they are.
    var addresses: [NetworkAddress] { entries.values.compactMap { $0.found?.address } }

    /// Where `service` says that it is; nil if that is not known.
    func address(of service: Service) -> NetworkAddress? { entries[service]?.found?.address }

    /// Whether somebody claims to be at `address`.
    func contains(_ address: NetworkAddress) -> Bool { !found { $0.address == address }.isEmpty }

    /// The devices that the user can pair with, in the order in which they were seen.
    var strangers: [Stranger] {
        var strangers: [Stranger] = []
        var places: [[UInt8]: Int] = [:]
        for found in found(where: { $0.device == nil && !$0.announcement.name.isEmpty }) {
            if let place = places[found.instance] {
                if !strangers[place].addresses.contains(found.address) {
                    strangers[place].addresses.append(found.address)
                }
            } else if strangers.count < Self.maximumStrangers {
                places[found.instance] = strangers.count
                strangers.append(Stranger(name: found.announcement.name, addresses: [found.address]))
            }
        }
        return strangers
    }
}
