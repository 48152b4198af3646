// SPDX-License-Identifier: LGPL-2.1-or-later

/// What shows an activity, such as a window or a view: it saves into it and is restored from it.
@MainActor
public protocol UserActivityResponder: AnyObject {
    /// The activity that this shows. Setting it associates the two.
    var userActivity: UserActivity? { get set }
    /// The state is needed: put this responder's part into the activity.
    func updateUserActivityState(_ activity: UserActivity)
    /// Show what is in the activity, which was continued from another device.
    func restoreUserActivityState(_ activity: UserActivity)
}
