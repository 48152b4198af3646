// SPDX-License-Identifier: LGPL-2.1-or-later

/// An activity of this session, as far as offering it is concerned.
package struct SessionActivity: Hashable, Sendable {
    /// What the application may change about an activity that decides whether and how it is offered.
    package struct Details: Hashable, Sendable {
        /// The title for people to read. It may be any text; only the offer cuts and cleans it.
        package var title: String
        /// The applications that may continue it.
        package var team: Team
        /// The host of its web page; nil without one.
        package var webpageHost: String?
        /// The MIME type of its document; nil without one.
        package var documentType: String?
        /// Whether the continuing application may open streams.
        package var supportsContinuationStreams: Bool
        /// Whether it may be offered while it is current.
        package var isEligibleForHandoff: Bool
        /// Whether the user keeps its application out, so that it is not offered whatever else is so.
        package var isExcluded: Bool
        /// When it stops being offered, in microseconds since the Unix epoch; 0 for never.
        package var expirationDate: Int64

        /// The details of an activity; by default, those of an activity for which only the team has been set.
        package init(
            title: String = "", team: Team, webpageHost: String? = nil, documentType: String? = nil,
            supportsContinuationStreams: Bool = false, isEligibleForHandoff: Bool = true,
            isExcluded: Bool = false, expirationDate: Int64 = 0
        ) {
            self.title = title
            self.team = team
            self.webpageHost = webpageHost
            self.documentType = documentType
            self.supportsContinuationStreams = supportsContinuationStreams
            self.isEligibleForHandoff = isEligibleForHandoff
            self.isExcluded = isExcluded
            self.expirationDate = expirationDate
        }
    }

    /// Its identifier.
    package let id: ActivityID
    /// The connection that created it.
    package let connection: String
    /// What kind of activity it is.
    package let type: ActivityType
    /// The application it belongs to.
    package let applicationID: ApplicationID
    /// What the application may change.
    package internal(set) var details: Details
    /// Grows with each change, the payload's included.
    package internal(set) var revision: UInt64 = 1
    /// When it last became current, in microseconds since the Unix epoch; 0 for never.
    package internal(set) var since: Int64 = 0
    /// When it was last used, in microseconds since the Unix epoch; 0 for never.
    package internal(set) var lastUsed: Int64 = 0
    /// Whether it has become current or was opened, and was not resigned since.
    var isOpen = false
    /// The latest revision that was left with peers before this machine slept; nil if none was.
    var parked: UInt64?
    /// The acts of continuing that of which peers have said; each had it left once.
    var continuations: Set<ContinuationID> = []
    /// Whether it is continued elsewhere, as it was left there.
    var isElsewhere = false

    init(
        id: ActivityID, connection: String, type: ActivityType, applicationID: ApplicationID, details: Details
    ) {
        self.id = id
        self.connection = connection
        self.type = type
        self.applicationID = applicationID
        self.details = details
    }

    /// The summary that peers would see now.
    package var offer: Offer {
        Offer(
            id: id, type: type, title: details.title, applicationID: applicationID, team: details.team,
            webpageHost: details.webpageHost, documentType: details.documentType,
            supportsContinuationStreams: details.supportsContinuationStreams, revision: revision,
            since: since,
            lastUsed: lastUsed
        )
    }

    /// Whether its expiration date has passed when the wall clock reads `wall`.
    func isExpired(at wall: Int64) -> Bool {
        details.expirationDate != 0 && details.expirationDate <= wall
    }
}
