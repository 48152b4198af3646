// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What this device leaves with a peer before it sleeps, and a peer here.
extension Peer {
    /// Leaves `all` with the peer, one after the other, as far as there is a link and `limit` allows.
    /// - Returns: how many the peer has; it may have the next one all the same, if it did not answer in time.
    func leave(_ all: [PeerManagerParkReply], within limit: Duration) async -> Int {
        let start = MainLoop.now
        var count = 0
        for one in all {
            let time = limit - .microseconds(MainLoop.now - start)
            guard time > .zero, let link, let id = ActivityID(one.activity) else { break }
            left = (left.filter { $0.activity != id } + [(id, nil)]).suffix(ParkedContinuations.maximumOfPeer)
            do {
                let summary = try SummaryTime.forLink(one.summary, now: MainLoop.wallClock)
                try await PeerProxy(link.remote).park(
                    activity: one.activity, summary: summary, payload: one.payload, timeout: time)
                count += 1
            } catch {
                bridgeLog.info("\(id) is not left with \(label): \(HandoffFailure(routed: error))")
            }
        }
        return count
    }

    /// Whether the peer may say that it has continued, as `continuation`, what was left with it of `id`: it may do so once.
    func mayHaveContinued(_ id: ActivityID, _ continuation: ContinuationID) -> Bool {
        guard let index = left.firstIndex(where: { $0.activity == id }),
            left[index].continuation ?? continuation == continuation
        else { return false }
        left[index].continuation = continuation
        return true
    }

    /// The peer leaves an activity here over `link`; the summary is in the form that it has on a bus.
    func left(
        _ id: ActivityID, _ summary: [String: Value], _ payload: PackedProperties, over link: Link
    ) async throws {
        let now = MainLoop.wallClock
        var left = PeerOffer.parkedTime
        let properties = try payload.unpacked()
        if case .int64(let date)? = properties["ExpirationDate"], date != 0 {
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
        let parked = PeerOffer.Parked(payload: payload, since: begin, until: begin + left)
        guard let open = summary.removeValue(forKey: "Open"), open != .boolean(false) else {
            try await take(id, summary, parked, over: link)
            return fallsAsleep(link)
        }
        guard open == .boolean(true) else {
            throw HandoffFailure(.invalidArguments, "Open is not a boolean. Give it one, of the type b.")
        }
        guard !offer.holds(id) else {
            throw HandoffFailure(
                .invalidArguments, "Activity \(id) is offered already. Leave it without Open, or another one."
            )
        }
        try aside.left(
            id, summary, parked, size: MarshalledSize.ofBody(properties), link: link.number, at: begin)
        fallsAsleep(link)
        owner.makeRoomForParked()
    }

    /// The peer has left something here, and is about to sleep.
    private func fallsAsleep(_ link: Link) {
        sleep = (MainLoop.wallClock, link.number, MainLoop.bootClock + PeerOffer.parkedTime)
        updateTimer()
    }

    /// The peer leaves an activity here before it sleeps.
    private func take(
        _ id: ActivityID, _ summary: [String: Value], _ parked: PeerOffer.Parked, over link: Link
    ) async throws {
        guard let actions = try offer.left(id, summary, parked, link: link.number, at: MainLoop.bootClock)
        else {
            throw HandoffFailure(
                .limitsExceeded,
                "This device has left something within the last ten seconds. Wait before the next.")
        }
        // By then what is refused is gone, and takes nobody's place; what a broker that hangs has not taken does.
        defer { owner.makeRoomForParked() }
        // It is what is offered now, whatever it was before.
        aside.drop(id)
        for telling in perform(actions) { try await telling.value }
    }

    /// What the peer has left here has to go, or only this activity.
    func dropParked(_ id: ActivityID? = nil) {
        aside.drop(id)
        if id == nil { sleep = nil }
        perform(offer.dropParked(id))
    }

    /// Since when something is here that the peer has left, by ``MainLoop/bootClock``; nil if nothing is.
    var parkedSince: Int64? { offer.parked?.since ?? aside.first?.parked.since }

    /// Since when the peer sleeps, by the wall clock, if it has left something here before; otherwise 0.
    var asleepSince: Int64 { link == nil ? sleep?.since ?? 0 : 0 }

    /// What the peer has left here, for the user here, who wants to see it: what it offered, and what else was open; nil if
    /// there is a link, or the peer does not sleep. The summaries are in the form that they have on a bus.
    var listedHere: [ListedActivity]? {
        guard asleepSince != 0 else { return nil }
        let items = aside.items(at: MainLoop.bootClock).map {
            ListedActivity($0.id.description, $0.summary)
        }
        return (offer.parkedOffer.map { [ListedActivity($0.id.description, $0.summary)] } ?? []) + items
    }

    /// The state of what the peer has left here beside what it offered, for the broker, which is told that; nil if there is a
    /// link, or that is none of it.
    func leftAside(_ id: ActivityID) throws -> PackedProperties? {
        guard link == nil, let item = aside.items(at: MainLoop.bootClock).first(where: { $0.id == id }) else {
            return nil
        }
        return try PackedProperties(
            try item.parked.payload.unpacked().merging(["Parked": .boolean(true)]) { $1 })
    }
}
