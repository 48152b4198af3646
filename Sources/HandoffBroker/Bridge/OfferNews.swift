// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Tells the bridge, for all peers, what is offered here: each change, in order, as long as the bridge keeps up, and else
/// how things are once it does.
@MainLoop
final class OfferNews {
    private let bridge: KnownPeers
    /// What is offered here.
    private var offered: Offer?
    /// How many calls have no answer yet.
    private var unanswered = 0
    /// Whether something has changed that was not told.
    private var isBehind = false
    /// What the bridge has been told is offered.
    private var told: ActivityID?
    /// Counts the bridges.
    private var bridges = 0

    /// How many calls may have no answer.
    private static let maximum = 16

    /// Tells the bridge of `peers`.
    init(_ peers: KnownPeers) { bridge = peers }

    /// The bridge is another one, or has not heard anything yet.
    func beginAnew() {
        bridges += 1
        (unanswered, isBehind, told) = (0, false, nil)
        if let offered { tell(offered) }
    }

    /// `offer` is made, or has changed.
    func tell(_ offer: Offer) {
        offered = offer
        guard let peers = bridge.all, admit() else { return }
        told = offer.id
        brokerLog.debug("Activity \(offer.id) is offered, revision \(offer.revision).")
        perform {
            try await peers.offer(activity: offer.id.description, summary: OfferSummary.encode(offer))
        }
    }

    /// The activity `id` is offered no more.
    func tellEnd(of id: ActivityID) {
        brokerLog.debug("Activity \(id) is no longer offered.")
        offered = nil
        guard let peers = bridge.all, admit() else { return }
        told = nil
        perform { try await peers.withdraw(activity: id.description) }
    }

    /// Whether it may be told of something. If not, it is told how things are once it has answered.
    private func admit() -> Bool {
        isBehind = unanswered >= Self.maximum
        return !isBehind
    }

    private func perform(_ call: @escaping @MainLoop () async throws -> Void) {
        unanswered += 1
        let bridge = bridges
        MainLoop.start { [weak self] in
            do {
                try await call()
            } catch {
                brokerLog.debug("The bridge did not take an offer: \(DBusError.converting(error).message)")
            }
            if let self, bridge == bridges { answered() }
        }
    }

    private func answered() {
        unanswered -= 1
        guard isBehind else { return }
        isBehind = false
        if let offered {
            tell(offered)
        } else if let told {
            tellEnd(of: told)
        }
    }
}
