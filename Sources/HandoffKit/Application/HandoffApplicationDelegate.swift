// SPDX-License-Identifier: LGPL-2.1-or-later

/// Who continues activities. Every requirement but ``application(_:continue:restorationHandler:)`` has a default.
@MainActor
public protocol HandoffApplicationDelegate: AnyObject {
    /// Something of this type is coming from `device`. What follows is that it is continued, or that it failed.
    /// - Returns: whether the application shows that to its user; otherwise the desktop does.
    func application(
        _ application: HandoffApplication, willContinueActivityOfType activityType: String,
        from device: ContinuationDevice
    ) -> Bool
    /// Continue this activity. Where it comes from is its ``UserActivity/origin``.
    /// - Parameter restorationHandler: to be called with the objects that show it, now or later:
    ///   ``UserActivityResponder/restoreUserActivityState(_:)`` is called on each.
    /// - Returns: whether it was handled. What is thrown is shown to the user.
    func application(
        _ application: HandoffApplication, continue activity: UserActivity,
        restorationHandler: @escaping HandoffApplication.RestorationHandler
    ) async throws -> Bool
    /// What was coming does not come.
    func application(
        _ application: HandoffApplication, didFailToContinueActivityOfType activityType: String,
        error: HandoffError)
    /// A save has changed the activity.
    func application(_ application: HandoffApplication, didUpdate activity: UserActivity)
}

extension HandoffApplicationDelegate {
    /// Shows nothing.
    public func application(
        _ application: HandoffApplication, willContinueActivityOfType activityType: String,
        from device: ContinuationDevice
    ) -> Bool { false }
    /// Logs a warning.
    public func application(
        _ application: HandoffApplication, didFailToContinueActivityOfType activityType: String,
        error: HandoffError
    ) { application.warn(of: error, activityType) }
    /// Does nothing.
    public func application(_ application: HandoffApplication, didUpdate activity: UserActivity) {}
}
