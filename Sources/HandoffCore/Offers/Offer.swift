// SPDX-License-Identifier: LGPL-2.1-or-later

/// The summary of a current activity that peers see; never its payload.
///
/// Its text is always fit to be shown, whoever wrote it.
package struct Offer: Hashable, Sendable {
    /// The activity.
    package let id: ActivityID
    /// What kind of activity it is.
    package let type: ActivityType
    /// What a person reads; may be empty.
    package let title: String
    /// The application it comes from.
    package let applicationID: ApplicationID
    /// The applications that may continue it.
    package let team: Team
    /// The host of its web page; nil without one.
    package let webpageHost: String?
    /// The MIME type of its document; nil without one.
    package let documentType: String?
    /// Whether the continuing application may open streams.
    package let supportsContinuationStreams: Bool
    /// Grows with each change of the activity, its payload included.
    package let revision: UInt64
    /// When it became current, in microseconds since the Unix epoch.
    package let since: Int64
    /// When it was last used, in microseconds since the Unix epoch; never before it became current.
    package let lastUsed: Int64

    /// A summary; the texts are made fit to be shown and cut, and empty ones mean none. Unless it is said when it was last
    /// used, that was when it became current.
    package init(
        id: ActivityID, type: ActivityType, title: String, applicationID: ApplicationID, team: Team,
        webpageHost: String? = nil, documentType: String? = nil, supportsContinuationStreams: Bool = false,
        revision: UInt64, since: Int64, lastUsed: Int64? = nil
    ) {
        self.id = id
        self.type = type
        self.title = PeerText.title(title)
        self.applicationID = applicationID
        self.team = team
        self.webpageHost = Self.shortText(webpageHost)
        self.documentType = Self.shortText(documentType)
        self.supportsContinuationStreams = supportsContinuationStreams
        self.revision = revision
        self.since = since
        self.lastUsed = max(since, lastUsed ?? since)
    }

    /// Whether what was fetched, summarised as `fetched`, is what a user who saw this offer has chosen: the
    /// same activity, type, application, team, document type and host. Title, streams, revision and date may
    /// differ.
    package func agrees(with fetched: Offer) -> Bool {
        id == fetched.id && type == fetched.type && applicationID == fetched.applicationID
            && team == fetched.team
            && documentType == fetched.documentType && webpageHost == fetched.webpageHost
    }

    /// This offer of a device that is away: nobody can open a stream to it.
    package var withoutStreams: Offer { with(since: since, lastUsed: lastUsed, streams: false) }

    /// This offer with other dates, and of another revision or without streams if that is given.
    private func with(
        since: Int64, lastUsed: Int64, revision: UInt64? = nil, streams: Bool? = nil
    ) -> Offer {
        Offer(
            id: id, type: type, title: title, applicationID: applicationID, team: team,
            webpageHost: webpageHost,
            documentType: documentType, supportsContinuationStreams: streams ?? supportsContinuationStreams,
            revision: revision ?? self.revision,
            since: since, lastUsed: lastUsed)
    }

    /// Whether nobody who sees both can tell them apart, but for when they were last used.
    func looksLike(_ other: Offer) -> Bool {
        with(since: since, lastUsed: other.lastUsed, revision: other.revision) == other
    }

    /// This offer, which takes the place of `former`: the date of an offer stays as it was told first, and that of its last
    /// use moves forward by at least ``Deadline/useGrain``, so that those who are told of it are not told of each letter that
    /// somebody types.
    func following(_ former: Offer) -> Offer {
        let (later, overflow) = former.lastUsed.addingReportingOverflow(Deadline.useGrain.wholeMicroseconds)
        let isLater = !overflow && lastUsed >= later
        return with(since: former.since, lastUsed: isLater ? lastUsed : former.lastUsed)
    }

    private static func shortText(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        return PeerText.clean(text, limit: 255, bytes: 255)
    }
}
