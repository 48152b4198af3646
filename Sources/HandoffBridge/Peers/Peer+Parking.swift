// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What this device leaves with a peer before it sleeps, and a peer here.
extension Peer {
    /// Leaves `parked` with the peer, if there is a link.
    /// - Returns: whether the peer has it; it may have it all the same if it did not answer within `limit`.
    func leave(_ parked: PeerManagerParkReply, within limit: Duration) async -> Bool {
        guard let link, let id = ActivityID(parked.activity) else { return false }
        left = (left.filter { $0.activity != id } + [(id, nil)]).suffix(Self.maximumLeft)
        do {
            let summary = try SummaryTime.forLink(parked.summary, now: MainLoop.wallClock)
            try await PeerProxy(link.remote).park(
                activity: parked.activity, summary: summary, payload: parked.payload, timeout: limit)
            return true
        } catch {
            bridgeLog.info("Nothing is left with \(label): \(HandoffFailure(routed: error))")
            return false
        }
    }

    /// Whether the peer may say that it has continued, as `continuation`, what was left with it of `id`: it may do so once.
    func mayHaveContinued(_ id: ActivityID, _ continuation: ContinuationID) -> Bool {
        guard let index = left.firstIndex(where: { $0.activity == id }),
            left[index].continuation ?? continuation == continuation
        else { return false }
        left[index].continuation = continuation
        return true
    }

    /// How much is remembered of what was left with one peer, as on the other side.
    private static let maximumLeft = ParkedContinuations.maximumOfPeer

    /// The peer leaves an activity here over `link`; the summary is in the form that it has on a bus.
    func left(
        _ id: ActivityID, _ summary: [String: Value], _ payload: PackedProperties, over link: Link
    ) async throws {
        let now = MainLoop.wallClock
        var left = PeerOffer.parkedTime
        if case .int64(let date)? = try payload.unpacked()["ExpirationDate"], date != 0 {
            guard date > now else {
                throw HandoffFailure(
                    .invalidArguments,
                    "The ExpirationDate of activity \(id) has passed. Leave what can be continued.")
            }
            left = min(left, date - now)
        }
        var summary = summary
        summary["Parked"] = .int64(now)
        let begin = MainLoop.bootClock
        try await take(
            id, summary, PeerOffer.Parked(payload: payload, since: begin, until: begin + left), over: link)
    }

    /// Since when something is here that the peer has left, by ``MainLoop/bootClock``; nil if nothing is.
    var parkedSince: Int64? { offer.parked?.since }
}
