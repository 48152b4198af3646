// SPDX-License-Identifier: LGPL-2.1-or-later

/// Who saves an activity and hears of it. Every requirement has a default.
@MainActor
public protocol UserActivityDelegate: AnyObject {
    /// The state is needed: bring the activity up to date.
    ///
    /// Its ``UserActivity/userInfo`` is empty; what is put there is the whole new state. If nothing is, the former stays.
    /// Within two seconds, or if this throws, the former state is handed off.
    func userActivityWillSave(_ activity: UserActivity) async throws
    /// A save has changed it.
    func userActivityDidUpdate(_ activity: UserActivity)
    /// It was continued on `device`. It is left as it is: to end it here, call ``UserActivity/invalidate()``.
    func userActivityWasContinued(_ activity: UserActivity, on device: ContinuationDevice)
    /// The continuing application has opened a stream. It is closed when nobody holds it.
    func userActivity(_ activity: UserActivity, didReceive stream: ContinuationStream)
    /// What was set was refused, here or by the broker: the properties that ``HandoffError/properties`` names have the values
    /// from before again, unless they were set since.
    func userActivity(_ activity: UserActivity, didFail error: HandoffError)
}

extension UserActivityDelegate {
    /// Changes nothing.
    public func userActivityWillSave(_ activity: UserActivity) async throws {}
    /// Does nothing.
    public func userActivityDidUpdate(_ activity: UserActivity) {}
    /// Does nothing.
    public func userActivityWasContinued(_ activity: UserActivity, on device: ContinuationDevice) {}
    /// Closes the stream.
    public func userActivity(_ activity: UserActivity, didReceive stream: ContinuationStream) {}
    /// Logs a warning, unless ``UserActivity/onFailure(_:)`` was given.
    public func userActivity(_ activity: UserActivity, didFail error: HandoffError) {
        if activity.closures.onFailure == nil { activity.warn(of: error) }
    }
}
