// SPDX-License-Identifier: LGPL-2.1-or-later

/// What shows an activity, such as a window or a view: it saves into it and is restored from it.
///
/// ```swift
/// final class Editor: UserActivityResponder {
///     let activityAssociation = ActivityAssociation()
///     func updateUserActivityState(_ activity: UserActivity) { activity.userInfo["line"] = 12 }
///     func restoreUserActivityState(_ activity: UserActivity) {}
/// }
/// ```
@MainActor
public protocol UserActivityResponder: AnyObject {
    /// What associates this with its activity: a stored property, made with the object.
    var activityAssociation: ActivityAssociation { get }
    /// The state is needed: put this responder's part into the activity.
    func updateUserActivityState(_ activity: UserActivity)
    /// Show what is in the activity, which was continued from another device.
    func restoreUserActivityState(_ activity: UserActivity)
}

extension UserActivityResponder {
    /// The activity that this shows. Setting it associates the two; several responders may share an activity, and all of
    /// them are asked when it is saved. Unsetting it dissociates them. An activity whose last responder has gone is
    /// invalidated at the end of that turn of the loop.
    ///
    /// An activity that has ended cannot be associated: it is reported as ``HandoffError/Code/unknownObject`` to whoever hears
    /// of its failures, and this is nil then.
    public var userActivity: UserActivity? {
        get { activityAssociation.activity }
        set { activityAssociation.set(newValue, responder: self) }
    }
}

extension UserActivity {
    /// The responders that share this activity, in the order in which they were associated.
    public var responders: [any UserActivityResponder] { associations.compactMap { $0.value?.responder } }

    /// Calls ``UserActivityResponder/restoreUserActivityState(_:)`` of each of `objects`.
    public func restore(_ objects: [any UserActivityResponder]) {
        for object in objects { object.restoreUserActivityState(self) }
    }

    func associate(_ association: ActivityAssociation) {
        associations.append(WeakAssociation(value: association))
    }

    /// One less; with none left the activity ends, unless there is a new one by the end of this turn.
    func dissociate(_ association: ActivityAssociation) {
        associations.removeAll { $0.value == nil || $0.value === association }
        guard associations.isEmpty, isValid, !isOfDocument else { return }
        Task { [self] in
            if associations.isEmpty { invalidate() }
        }
    }
}
