// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// What a peer's `Fetch` returned, checked by the rules for activities before an application sees it.
enum FetchedActivity {
    /// How many microseconds saving took according to the peer, 0 if it does not say.
    static func saveTime(_ fetched: [String: Value]) -> Int64 {
        if case .int64(let microseconds)? = fetched["SaveTime"] { microseconds } else { 0 }
    }

    /// The keys that are checked elsewhere, or concern only the origin.
    private static let others: Set = [
        "ActivityType", "ApplicationId", "Team", "Revision", "DocumentType", "SaveTime", "Delegate",
        "NeedsSave",
        "Current",
    ]

    /// - Returns: what the application gets, what the state machine needs to know, and what is known of the document;
    ///   nil if there is none.
    /// - Throws: what rule was broken.
    static func check(
        _ fetched: [String: Value], _ offer: Offer
    ) throws(HandoffFailure)
        -> (activity: [String: Value], summary: Continuation.Fetched, document: FetchedDocument?)
    {
        var state = ActivityState()
        let properties = fetched.filter { !others.contains($0.key) }
        // This goes to the application as it has come.
        try state.apply(properties, isKept: false)
        let summary = try OfferSummary.summarise(offer.id, fetched, state, since: offer.since)
        var activity = state.shared
        activity["ActivityType"] = .string(summary.type.description)
        activity["ApplicationId"] = .string(summary.applicationID.description)
        // Only a file on this machine may be named, and none has been made from the document.
        activity["DocumentURL"] = nil
        let hasDocument = !state.documentURL.isEmpty
        return (
            activity,
            Continuation.Fetched(
                offer: summary, document: hasDocument ? .remote : .none,
                pageMayBeClaimed: ActivityURL.hasHostAlone(state.webpageURL)),
            hasDocument ? FetchedDocument() : nil
        )
    }
}
