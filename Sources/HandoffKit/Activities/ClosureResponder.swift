// SPDX-License-Identifier: LGPL-2.1-or-later

/// A responder for what has no class: it is one for as long as it is kept.
@MainActor
public final class ClosureResponder: UserActivityResponder {
    /// What associates this with its activity.
    public let activityAssociation = ActivityAssociation()
    private let update: @MainActor (UserActivity) -> Void
    private let restore: @MainActor (UserActivity) -> Void

    /// A responder of `activity`.
    /// - Parameters:
    ///   - update: puts a part of the state into the activity.
    ///   - restore: shows what is in the activity.
    public init(
        _ activity: UserActivity? = nil, update: @escaping @MainActor (UserActivity) -> Void,
        restore: @escaping @MainActor (UserActivity) -> Void = { _ in }
    ) {
        self.update = update
        self.restore = restore
        userActivity = activity
    }

    /// Calls what was given for that.
    public func updateUserActivityState(_ activity: UserActivity) { update(activity) }
    /// Calls what was given for that.
    public func restoreUserActivityState(_ activity: UserActivity) { restore(activity) }
}
