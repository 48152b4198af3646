// SPDX-License-Identifier: LGPL-2.1-or-later

/// The one-time tokens that this device has made for connections that are to come: each for one stream of one peer,
/// over one link (protocol.md, "Streams").
package struct StreamTokens: Sendable {
    /// A token that has not been used yet.
    package struct Ticket: Hashable, Sendable {
        /// Tells tickets apart; grows.
        package let number: Int
        /// The random bytes.
        package let token: [UInt8]
        /// The device that was given the token.
        package let device: DeviceID
        /// The link over which it was given.
        package let link: Int
        /// When the token becomes worthless.
        package let deadline: Instant
    }

    /// The length of a token in bytes.
    package static let size = 16

    /// The unused tokens, in the order in which they were made.
    private var tickets: [Ticket] = []
    private var last = 0

    /// No tokens yet.
    package init() {}

    /// A token has been made for a stream of `device` over a link. Fails with `limitsExceeded` if the device
    /// has too many.
    package mutating func issue(
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

    /// Somebody shows a token, which uses it up.
    /// - Parameter shows: whether it is the token of the given ticket. This is asked for every ticket, so
    ///   that the time taken reveals nothing.
    /// - Returns: the ticket; nil if the token is not a valid one.
    package mutating func claim(at now: Instant, _ shows: (Ticket) -> Bool) -> Ticket? {
        var found: Int?
        for (index, ticket) in tickets.enumerated() {
            let isShown = shows(ticket)
            if isShown, found == nil, now < ticket.deadline { found = index }
        }
        return found.map { tickets.remove(at: $0) }
    }

    /// How many tokens are outstanding for the devices for which `matches` is true.
    package func outstanding(where matches: (DeviceID) -> Bool) -> Int {
        tickets.count { matches($0.device) }
    }

    /// The stream of this ticket is not wanted any more. Nothing happens if it has been used.
    package mutating func revoke(_ ticket: Ticket) { tickets.removeAll { $0.number == ticket.number } }

    /// A link has ended, and with it the tokens that were given over it.
    /// - Returns: those tokens.
    package mutating func linkEnded(_ link: Int) -> [Ticket] { remove { $0.link == link } }

    /// When `advance(to:)` has something to do; nil if time changes nothing.
    package var nextDeadline: Instant? { tickets.map(\.deadline).min() }

    /// Time has passed.
    /// - Returns: the tokens that have become worthless.
    package mutating func advance(to now: Instant) -> [Ticket] { remove { $0.deadline <= now } }

    private mutating func remove(where predicate: (Ticket) -> Bool) -> [Ticket] {
        let removed = tickets.filter(predicate)
        tickets.removeAll(where: predicate)
        return removed
    }
}
