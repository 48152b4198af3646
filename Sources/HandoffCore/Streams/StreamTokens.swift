// SPDX-License-Identifier: LGPL-2.1-or-later

/// The one-time tokens that this device has made for connections that are to come: each for one stream of one peer,
/// over one link (protocol.md, "Streams").
public struct StreamTokens: Sendable {
    /// A token that has not been used yet.
    public struct Ticket: Hashable, Sendable {
        /// Tells tickets apart; grows.
        public let number: Int
        /// The random bytes.
        public let token: [UInt8]
        /// Who has been given it.
        public let device: DeviceID
        /// The link over which that was.
        public let link: Int
        /// From when on it is worth nothing.
        public let deadline: Instant
    }

    /// How many bytes a token has.
    public static let size = 16

    /// In the order in which they were made.
    private var tickets: [Ticket] = []
    private var last = 0

    /// No tokens yet.
    public init() {}

    /// A token has been made for a stream of `device` over a link. Fails with `limitsExceeded` if it has too many.
    public mutating func issue(
        _ token: [UInt8], to device: DeviceID, over link: Int, at now: Instant
    ) throws(HandoffFailure) -> Ticket {
        guard tickets.count(where: { $0.device == device && now < $0.deadline }) < Quota.tokensOfPeer else {
            throw .tooMany(
                "streams of one device that are being opened", limit: Quota.tokensOfPeer,
                advice: "Wait until one of them is open.")
        }
        last += 1
        let ticket = Ticket(
            number: last, token: token, device: device, link: link,
            deadline: now.advanced(by: Deadline.streamToken))
        tickets.append(ticket)
        return ticket
    }

    /// Somebody shows a token, by which it is used up.
    /// - Parameter shows: whether it is that of the ticket. Asked of each, so that the time tells nothing.
    /// - Returns: nil if it is none that is valid.
    public mutating func claim(at now: Instant, _ shows: (Ticket) -> Bool) -> Ticket? {
        var found: Int?
        for (index, ticket) in tickets.enumerated() {
            let isShown = shows(ticket)
            if isShown, found == nil, now < ticket.deadline { found = index }
        }
        return found.map { tickets.remove(at: $0) }
    }

    /// How many tokens are outstanding of the devices that `matches`.
    public func outstanding(where matches: (DeviceID) -> Bool) -> Int {
        tickets.count { matches($0.device) }
    }

    /// The stream of this ticket is not wanted any more. Nothing happens if it has been used.
    public mutating func revoke(_ ticket: Ticket) { tickets.removeAll { $0.number == ticket.number } }

    /// A link has ended, and with it the tokens that were given over it.
    /// - Returns: these.
    public mutating func linkEnded(_ link: Int) -> [Ticket] { remove { $0.link == link } }

    /// When `advance(to:)` has something to do; nil if time changes nothing.
    public var nextDeadline: Instant? { tickets.map(\.deadline).min() }

    /// Time has passed.
    /// - Returns: the tokens that are worth nothing any more.
    public mutating func advance(to now: Instant) -> [Ticket] { remove { $0.deadline <= now } }

    private mutating func remove(where predicate: (Ticket) -> Bool) -> [Ticket] {
        let removed = tickets.filter(predicate)
        tickets.removeAll(where: predicate)
        return removed
    }
}
