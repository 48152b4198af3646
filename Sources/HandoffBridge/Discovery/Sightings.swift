// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// The announcements that can be seen: which of them still have to be looked up, and whose the others are.
///
/// Whoever is on the network decides how many there are, so both their number and how many are looked up at a time have
/// limits. Plain values: what is seen goes in, what is to be done comes out.
struct Sightings {
    typealias Service = AvahiBrowser.Service

    /// What is known of one that has been looked up.
    struct Found: Equatable {
        let address: NetworkAddress
        let instance: [UInt8]
        let announcement: Announcement
        /// The peer whose it is; nil if it is no peer's.
        var device: DeviceID?
    }

    /// A device that lets itself be discovered and is no peer.
    struct Stranger: Equatable {
        let name: String
        var addresses: [NetworkAddress]
    }

    private enum State {
        case waiting
        case lookedUp
        /// What can be known of it is known.
        case known
        /// Nobody has told where it is.
        case unanswered
    }

    /// What came of looking one up.
    enum Outcome {
        case found(Found)
        /// It is of no use: not on this network, or not of this version.
        case useless
        /// Nobody has told where it is.
        case unanswered
    }

    /// One that is there.
    private struct Entry {
        /// Grows with each that appears.
        let number: Int
        var state = State.waiting
        /// How often nobody has told where it is.
        var failures = 0
        /// What was found last: it counts also while it is looked up again.
        var found: Found?
    }

    /// How many are kept; of more, some that tell nothing go.
    static let maximum = 512
    /// How many are looked up at a time.
    static let maximumLookups = 64
    /// How many strangers are shown.
    static let maximumStrangers = 32
    /// How often one is looked up that nobody tells of.
    static let maximumFailures = 4

    private var entries: [Service: Entry] = [:]
    private var nextNumber = 0
    /// Those that wait, the oldest first; some of them may have gone.
    private var queue: [Service] = []
    private var lookups = 0
    /// Those that were there before Avahi's last restart and have not been seen since.
    private var stale: Set<Service> = []

    /// What was found and `matches`, the first that appeared first.
    private func found(where matches: (Found) -> Bool) -> [Found] {
        let entries = entries.values.filter { $0.found.map(matches) == true }
        return entries.sorted { $0.number < $1.number }.compactMap(\.found)
    }

    // MARK: Events

    /// `service` is there. It is looked up unless it is known.
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

    /// Takes one away that tells nothing, any of them: else whoever announces most would keep the others out.
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

    /// `service` is there no longer.
    /// - Returns: whether it was one that was found.
    mutating func vanished(_ service: Service) -> Bool {
        stale.remove(service)
        return entries.removeValue(forKey: service)?.found != nil
    }

    /// The next one to be looked up now; nil if there is none, or too much is under way.
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
    /// - Returns: whether something else is there now than before.
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

    /// Whether some are to be looked up again after a while.
    var hasUnanswered: Bool { entries.values.contains(where: Self.isToBeRetried) }

    private static func isToBeRetried(_ entry: Entry) -> Bool {
        if case .unanswered = entry.state { entry.failures < maximumFailures } else { false }
    }

    /// Looks up again what nobody has told of.
    mutating func retryUnanswered() {
        for (service, entry) in entries where Self.isToBeRetried(entry) { lookUpAgain(service) }
    }

    private mutating func lookUpAgain(_ service: Service) {
        entries[service]?.state = .waiting
        enqueue(service)
    }

    /// There are other peers or secrets, or this machine is on other networks: what is none of `peers`' is looked up once
    /// more, since it may be one's now.
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

    /// Avahi is gone: what was seen counts until it can be seen whether it is still there.
    mutating func avahiVanished() {
        queue = []
        entries = entries.filter { $0.value.found != nil }
        for service in entries.keys { entries[service]?.state = .known }
        stale = Set(entries.keys)
    }

    /// Avahi has told all it knows.
    mutating func avahiCompleted() {
        dropStale()
    }

    /// What was seen before Avahi's end does not count any more.
    mutating func dropStale() {
        for service in stale { entries[service] = nil }
        stale = []
    }

    /// Nothing is looked for any more.
    mutating func clear() { (entries, queue, stale) = ([:], [], []) }

    // MARK: What is there

    /// How many announcements are kept.
    var count: Int { entries.count }
    /// How many wait to be looked up, gone ones among them.
    var waitingCount: Int { queue.count }

    /// Where `device` says that it is.
    func addresses(of device: DeviceID) -> [NetworkAddress] {
        found { $0.device == device }.map(\.address).reduce(into: []) { addresses, address in
            if !addresses.contains(address) { addresses.append(address) }
        }
    }

    /// Where all say to be.
    var addresses: [NetworkAddress] { entries.values.compactMap { $0.found?.address } }

    /// Where `service` says to be; nil if that is not known.
    func address(of service: Service) -> NetworkAddress? { entries[service]?.found?.address }

    /// Whether somebody says to be at `address`.
    func contains(_ address: NetworkAddress) -> Bool { !found { $0.address == address }.isEmpty }

    /// Those whom the user can pair with, the first that was seen first.
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
