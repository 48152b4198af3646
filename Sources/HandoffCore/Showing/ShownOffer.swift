// SPDX-License-Identifier: LGPL-2.1-or-later

/// An offer of a peer, as far as what the user is shown of it depends on it.
package struct ShownOffer: Equatable, Sendable {
    /// Its object, which identifies it.
    package let path: String
    /// The device that it comes from.
    package let deviceID: String
    /// What that is called.
    package var deviceName: String
    /// What the activity is called; may be empty.
    package var title: String
    /// The application that it comes from.
    package var applicationID: String
    /// The application here that continues it; empty if there is none.
    package var handler: String
    /// When it became current there, in microseconds since the Unix epoch.
    package var since: Int64
    /// When it was last used there, in microseconds since the Unix epoch.
    package var lastUsed: Int64
    /// Whether it was pushed to this device by its user.
    package var isInvited: Bool
    /// When it was, in microseconds since the Unix epoch, which tells one invitation from the next; 0 if it was not.
    package var invitedAt: Int64
    /// When its device has left it here, in microseconds since the Unix epoch; 0 unless that sleeps.
    package var parkedAt: Int64
    /// Whether it is being continued here.
    package var isContinuing: Bool
    /// Whether the application that continues it shows by itself that it is coming.
    package var isShownByApplication: Bool
    /// How far it has come while it is continued, from 0 to 1; nil if that is not known.
    package var progress: Double?

    /// An offer. Unless it is said when it was last used, that was when it became current.
    package init(
        path: String, deviceID: String, deviceName: String = "", title: String = "",
        applicationID: String = "",
        handler: String = "", since: Int64 = 0, lastUsed: Int64? = nil, isInvited: Bool = false,
        invitedAt: Int64 = 0, parkedAt: Int64 = 0,
        isContinuing: Bool = false,
        isShownByApplication: Bool = false, progress: Double? = nil
    ) {
        self.path = path
        self.deviceID = deviceID
        self.deviceName = deviceName
        self.title = title
        self.applicationID = applicationID
        self.handler = handler
        self.since = since
        self.lastUsed = max(since, lastUsed ?? since)
        self.isInvited = isInvited
        self.invitedAt = invitedAt
        self.parkedAt = parkedAt
        self.isContinuing = isContinuing
        self.isShownByApplication = isShownByApplication
        self.progress = progress
    }

    /// Whether a question about it reads the same as one about `other`.
    func reads(like other: ShownOffer) -> Bool {
        path == other.path && deviceName == other.deviceName && title == other.title
            && applicationID == other.applicationID && handler == other.handler && parkedAt == other.parkedAt
    }
}

extension Sequence<ShownOffer> {
    /// The one that was used last.
    var latest: ShownOffer? { self.max { ($0.lastUsed, $1.path) < ($1.lastUsed, $0.path) } }
}
