// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop

/// What is open at peers, for the user here, who wants to see it.
@MainLoop
final class Listings {
    private let peers: Peers
    private var offers: Offers { peers.offers }
    private let clock: LoopClock
    /// What each peer was asked last, whether it was away, and when its answer came.
    private var asked: [DeviceID: (answer: Task<[ObjectPath], any Error>, isAway: Bool, time: Instant?)] = [:]

    /// Nothing was asked for yet. What is listed becomes part of what `peers` offer.
    init(_ peers: Peers, _ clock: LoopClock) { (self.peers, self.clock) = (peers, clock) }

    /// Asks `device` what is open there, unless it is being asked, or has answered a moment ago.
    /// - Returns: where each activity is on the bus, the latest used first.
    /// - Throws: what `Peer.List` does; `ApplicationFailed` if the answer breaks a rule.
    func list(_ device: DeviceID) async throws -> [ObjectPath] {
        let isAway = peers.known.isAway(device)
        if let last = asked[device], last.isAway == isAway,
            last.time.map({ clock.instant < $0.advanced(by: Deadline.listingInterval) }) != false
        {
            return try await last.answer.value
        }
        let answer = MainLoop.start { [self] in try await ask(device) }
        asked[device] = (answer, isAway, nil)
        defer { asked[device] = (answer, isAway, clock.instant) }
        return try await answer.value
    }

    private func ask(_ device: DeviceID) async throws -> [ObjectPath] {
        let listed: [ListedActivity]
        do {
            listed = try await offers.peers.bridgePeer(device).list(timeout: Deadline.fetch * 2)
        } catch {
            throw HandoffFailure(routed: error)
        }
        // It may have been unpaired meanwhile.
        guard peers.contains(device) else { throw HandoffFailure.notPaired(device) }
        do {
            return try offers.listed(try OfferSummary.decode(listed, now: clock.wall), by: device)
        } catch {
            throw HandoffFailure(
                .applicationFailed,
                "\(offers.peers.name(of: device)) has not listed what is open as it should. \(error.message)"
            )
        }
    }
}
