// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

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
        "Current", SharedURLs.Key.folders, SharedURLs.Key.size, SharedURLs.Key.modified,
    ]

    /// - Parameter sharedFolders: the shared folders of this machine; none are needed unless those of the origin
    ///   ``SharedURLs/areNamed(in:)``. With them, this blocks as long as the file system does.
    /// - Returns: what the application gets, what the state machine needs to know, and what is known of the document;
    ///   nil if there is none.
    /// - Throws: what rule was broken.
    static func check(
        _ fetched: [String: Value], _ offer: Offer, _ sharedFolders: SharedFolders = SharedFolders()
    ) throws(HandoffFailure)
        -> (activity: [String: Value], summary: Continuation.Fetched, document: FetchedDocument?)
    {
        var state = ActivityState()
        let properties = fetched.filter { !others.contains($0.key) }
        // This goes to the application as it has come.
        try state.apply(
            properties, isKept: false,
            ignoring: {
                brokerLog.debug("The unknown key \(PeerText.message($0)) of an activity is ignored.")
            })
        let summary = try OfferSummary.summarise(offer.id, fetched, state, since: offer.since)
        var activity = state.shared
        activity["ActivityType"] = .string(summary.type.description)
        activity["ApplicationId"] = .string(summary.applicationID.description)
        let urls = try SharedURLs(fetched, here: sharedFolders)
        let room = min(
            UserInfoRules.maximumSize - state.userInfo.size, ActivityState.maximumSize - 64 - state.size)
        activity["UserInfo"] = activity["UserInfo"].map { urls.mapped($0, room: room) }
        // Only a file on this machine may be named, and it is not known yet whether there is one.
        activity["DocumentURL"] = nil
        let document = try document(fetched, state, urls)
        let place: Continuation.Document =
            document.map { $0.sharedPath == nil ? .remote : .awaited } ?? .none
        return (
            activity,
            Continuation.Fetched(
                offer: summary, document: place,
                pageMayBeClaimed: WebAddress(state.webpageURL)?.namesHostAlone == true),
            document
        )
    }

    private static func document(
        _ fetched: [String: Value], _ state: ActivityState, _ urls: SharedURLs
    ) throws(HandoffFailure) -> FetchedDocument? {
        let size = try fetched[SharedURLs.Key.size].map { (value) throws(HandoffFailure) in
            guard case .uint64(let size) = value else {
                throw ActivityState.wrongType(SharedURLs.Key.size, "t", value)
            }
            return size
        }
        let modified = try fetched[SharedURLs.Key.modified].map { (value) throws(HandoffFailure) in
            guard case .int64(let modified) = value else {
                throw ActivityState.wrongType(SharedURLs.Key.modified, "x", value)
            }
            return modified
        }
        guard !state.documentURL.isEmpty else { return nil }
        let shared = urls.place(ofDocument: state.documentURL)
        return FetchedDocument(
            url: state.documentURL, sharedPath: shared?.path, sharedFolder: shared?.folder, size: size,
            modified: modified)
    }
}
