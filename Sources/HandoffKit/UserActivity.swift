// SPDX-License-Identifier: LGPL-2.1-or-later
public import FoundationEssentials
public import Observation

/// What a user is doing in the application: it can be continued on another device.
///
/// Setters are synchronous and check at once; everything that is set in one turn of the loop travels together.
@MainActor @Observable
public final class UserActivity {
    /// What kind of activity it is.
    public let activityType: String
    /// What the user is doing, for people to read.
    public var title = ""
    /// The state that the continuing application needs.
    public var userInfo = UserInfo()
    /// The keys of ``userInfo`` that are enough to restore it later; empty means all.
    public var requiredUserInfoKeys: Set<String> = []
    /// A web page that shows the same thing.
    public var webpageURL: URL?
    /// The document that the user is working on.
    public var documentURL: URL?
    /// The web page from which the user came.
    public var referrerURL: URL?
    /// Words under which it should be found.
    public var keywords: Set<String> = []
    /// When it stops being offered; nil for never.
    public var expirationDate: Date?
    /// What identifies its content to the application.
    public var targetContentIdentifier: String?
    /// What identifies it over a longer time.
    public var persistentIdentifier: String?
    /// Whether it may be continued on other devices.
    public var isEligibleForHandoff = true
    /// Whether it may be found by search.
    public var isEligibleForSearch = false
    /// Whether the continuing application may open streams.
    public var supportsContinuationStreams = false
    /// Whether the state has changed since it was last saved.
    public var needsSave = false
    /// Whether it is the current activity of the session.
    public private(set) var isCurrent = false
    /// Who saves it and hears of it.
    public weak var delegate: (any UserActivityDelegate)?

    /// An activity of this type; empty for the first declared one.
    public init(activityType: String = "", title: String = "") {
        self.activityType = activityType
        self.title = title
    }

    /// The type of an activity that is nothing but a web page.
    public static let browsingWeb = "org.example.Handoff.BrowsingWeb"

    /// Makes it the current activity of the session.
    public func becomeCurrent() {}
    /// It is no longer current.
    public func resignCurrent() {}
    /// Ends it; it cannot be revived.
    public func invalidate() {}
    /// Adds entries to ``userInfo``.
    public func addUserInfoEntries(from other: UserInfo) {
        userInfo.entries.merge(other.entries) { _, new in new }
    }
    /// Puts a value of the application's own type into ``userInfo``.
    public func setTypedPayload<Payload: Encodable>(_ payload: Payload) throws(HandoffError) {}
    /// The value that ``setTypedPayload(_:)`` has put there.
    public func typedPayload<Payload: Decodable>(_ type: Payload.Type) throws(HandoffError) -> Payload {
        throw HandoffError(.notSupported, "No payload.")
    }
    /// Opens a stream to the application that this activity comes from.
    public func continuationStream() async throws(HandoffError) -> ContinuationStream {
        throw HandoffError(.notSupported, "No streams.")
    }

    /// Called when the state is needed, before the delegate.
    public func onWillSave(_ body: @escaping @MainActor (UserActivity) async throws -> Void) {}
    /// Called once it was continued on another device.
    public func onWasContinued(_ body: @escaping @MainActor (UserActivity, ContinuationDevice) -> Void) {}
    /// Called with each stream that the continuing application opens.
    public func onStream(_ body: @escaping @MainActor (UserActivity, ContinuationStream) -> Void) {}
}

/// Who saves an activity and hears of it. Every requirement has a default that does nothing.
@MainActor
public protocol UserActivityDelegate: AnyObject {
    /// The state is needed: bring the activity up to date.
    func userActivityWillSave(_ activity: UserActivity) async throws
    /// A save has changed it.
    func userActivityDidUpdate(_ activity: UserActivity)
    /// It was continued on `device`.
    func userActivityWasContinued(_ activity: UserActivity, on device: ContinuationDevice)
    /// The continuing application has opened a stream.
    func userActivity(_ activity: UserActivity, didReceive stream: ContinuationStream)
    /// The broker has refused what was set.
    func userActivity(_ activity: UserActivity, didFail error: HandoffError)
}

extension UserActivityDelegate {
    public func userActivityWillSave(_ activity: UserActivity) async throws {}
    public func userActivityDidUpdate(_ activity: UserActivity) {}
    public func userActivityWasContinued(_ activity: UserActivity, on device: ContinuationDevice) {}
    public func userActivity(_ activity: UserActivity, didReceive stream: ContinuationStream) {}
    public func userActivity(_ activity: UserActivity, didFail error: HandoffError) {}
}
