// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is shown of offers that were pushed to this device: one at a time for each peer, at most one in ten seconds, the
/// latest, and nothing while the session is locked. What the user has answered or put away comes back only when it is sent
/// again, even if it is not there in between.
package struct InvitedNotices: Sendable {
    /// What is to be done.
    package enum Action: Equatable, Sendable {
        /// Ask about this offer, in place of what is asked for its device.
        case show(ShownOffer)
        /// Take back what is asked for this device.
        case withdraw(deviceID: String)
    }

    /// Between two questions of one peer.
    package static let pace = Duration.seconds(10)

    /// An invitation that the user has answered, or put away.
    private struct Closed: Equatable {
        let deviceID: String
        let path: String
        let time: Int64

        init(_ offer: ShownOffer) {
            (deviceID, path, time) = (offer.deviceID, offer.path, offer.invitedAt)
        }
    }

    /// Of how many devices it is remembered what the user has answered, or put away.
    private static let maximumClosed = 64

    private struct Peer {
        var wanted: ShownOffer?
        var shown: ShownOffer?
        var shownAt: Instant?

        /// Whether there is something to show that is not shown, if the user has answered or put away `closed`.
        func isBehind(_ closed: Closed?) -> Bool {
            guard let wanted, closed != Closed(wanted) else { return false }
            return shown.map { Closed($0) != Closed(wanted) || !$0.reads(like: wanted) } ?? true
        }

        var nextTime: Instant? { shownAt?.advanced(by: InvitedNotices.pace) }
    }

    private var peers: [String: Peer] = [:]
    /// What the user has answered or put away, the last of each device, the latest last.
    private var answered: [Closed] = []
    private var isLocked = true

    /// Nothing was pushed here.
    package init() {}

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    package var nextTime: Instant? {
        isLocked ? nil : peers.filter { isBehind($0, $1) }.compactMap { $1.nextTime }.min()
    }

    /// These are the offers now.
    package mutating func update(_ offers: [ShownOffer], at now: Instant) -> [Action] {
        let invited = Dictionary(grouping: offers.filter { $0.isInvited && !$0.isContinuing }, by: \.deviceID)
        for device in Set(invited.keys).union(peers.keys) {
            peers[device, default: Peer()].wanted = invited[device]?.latest
        }
        // How long ago something was shown counts only for as long as that may matter.
        peers = peers.filter { $1.wanted != nil || $1.shown != nil || ($1.nextTime ?? now) > now }
        return withdrawn() + advance(to: now)
    }

    /// Others could see from now on what is shown. Unless it `isKnown` what the user has put away, that may be all of it, and
    /// it does not come back.
    package mutating func locked(isKnown: Bool = true) -> [Action] {
        isLocked = true
        if !isKnown { for device in peers.keys { closed(deviceID: device, isGone: false) } }
        return peers.keys.sorted().compactMap { withdraw($0) }
    }

    /// Only the user sees from now on what is shown.
    package mutating func unlocked(at now: Instant) -> [Action] {
        isLocked = false
        return advance(to: now)
    }

    /// The user has answered what was asked for this device, or put it away.
    package mutating func closed(deviceID: String) { closed(deviceID: deviceID, isGone: true) }

    private mutating func closed(deviceID: String, isGone: Bool) {
        guard let shown = peers[deviceID]?.shown else { return }
        if isGone { peers[deviceID]?.shown = nil }
        answered = (answered.filter { $0.deviceID != deviceID } + [Closed(shown)]).suffix(Self.maximumClosed)
    }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        guard !isLocked else { return [] }
        var actions: [Action] = []
        for (device, peer) in peers.sorted(by: { $0.key < $1.key }) {
            guard isBehind(device, peer), let wanted = peer.wanted, peer.nextTime.map({ $0 <= now }) ?? true
            else {
                continue
            }
            peers[device]?.shown = wanted
            peers[device]?.shownAt = now
            actions.append(.show(wanted))
        }
        return actions
    }

    private func isBehind(_ device: String, _ peer: Peer) -> Bool {
        peer.isBehind(answered.first { $0.deviceID == device })
    }

    /// What is shown is not to be answered any more once it is another offer's turn.
    private mutating func withdrawn() -> [Action] {
        peers.keys.sorted().compactMap { device in
            peers[device]?.shown?.path == peers[device]?.wanted?.path ? nil : withdraw(device)
        }
    }

    private mutating func withdraw(_ device: String) -> Action? {
        guard peers[device]?.shown != nil else { return nil }
        peers[device]?.shown = nil
        return .withdraw(deviceID: device)
    }
}
