// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is new and has yet to be asked about, where the user wants to be asked about all of it: one at a time for each peer,
/// at most one in ten seconds, the latest. Whatever a peer does, the last thing that it offers gets its turn if it stays,
/// and so does every other peer.
struct NewOffers: Sendable {
    /// Between two questions about one peer, and before another peer's turn if several are due.
    static let pace = Duration.seconds(10)

    /// What is to be asked about.
    private struct Waiting {
        let path: String
        /// Since when something of this peer has waited.
        let since: Instant
        /// When it may be asked about.
        var due: Instant
    }

    private var waiting: [String: Waiting] = [:]
    /// When each peer was asked about last, as far as that still matters.
    private var asked: [String: Instant] = [:]

    /// Nothing is new.
    init() {}

    /// When something is to be asked about; nil if nothing is new.
    var nextTime: Instant? { waiting.values.map(\.due).min() }

    /// These offers are new.
    mutating func add(_ fresh: [ShownOffer], at now: Instant) {
        for (device, offers) in Dictionary(grouping: fresh, by: \.deviceID) {
            guard let offer = offers.filter({ !$0.isContinuing }).latest else { continue }
            let former = waiting[device]
            let allowed = asked[device]?.advanced(by: Self.pace) ?? now
            waiting[device] = Waiting(
                path: offer.path, since: former?.since ?? now, due: former?.due ?? max(now, allowed))
        }
    }

    /// These are the offers now: nothing else is asked about.
    /// - Returns: what is not there any more without having been asked about, so that it is new if it comes back.
    mutating func keep(_ offers: [ShownOffer]) -> [String] {
        let gone = waiting.values.map(\.path).filter { path in !offers.contains { $0.path == path } }
        waiting = waiting.filter { _, one in offers.contains { $0.path == one.path && !$0.isContinuing } }
        return gone
    }

    /// What of `offers` is to be asked about now: that of the peer which has waited longest. The others wait on, so that
    /// it can be read.
    mutating func take(from offers: [ShownOffer], at now: Instant) -> ShownOffer? {
        let due = waiting.filter { $1.due <= now }
        let candidates = due.values.compactMap { one in
            offers.first { $0.path == one.path }.map { (since: one.since, offer: $0) }
        }
        guard let longest = candidates.map(\.since).min(),
            let offer = candidates.filter({ $0.since == longest }).map(\.offer).latest
        else { return nil }
        for device in due.keys { waiting[device]?.due = now.advanced(by: Self.pace) }
        waiting[offer.deviceID] = nil
        return offer
    }

    /// The user is asked about something of this peer.
    mutating func asked(_ device: String, at now: Instant) {
        asked = asked.filter { $1.advanced(by: Self.pace) > now }
        asked[device] = now
    }

    /// Nothing is new any more.
    mutating func forget() { waiting = [:] }
}
