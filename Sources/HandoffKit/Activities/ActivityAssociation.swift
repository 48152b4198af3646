// SPDX-License-Identifier: LGPL-2.1-or-later

/// Associates one ``UserActivityResponder`` with the activity that it shows, and ends with it.
@MainActor
public final class ActivityAssociation {
    private(set) var activity: UserActivity?
    private(set) weak var responder: (any UserActivityResponder)?

    /// An association with no activity yet.
    nonisolated public init() {}

    isolated deinit { activity?.dissociate(self) }

    func set(_ new: UserActivity?, responder: any UserActivityResponder) {
        self.responder = responder
        guard new !== activity else { return }
        let former = activity
        // What has ended says so, and is not associated.
        activity = new?.isStillValid() == true ? new : nil
        activity?.associate(self)
        former?.dissociate(self)
    }

    /// The activity has ended.
    func activityEnded(_ ended: UserActivity) {
        if activity === ended { activity = nil }
    }
}

/// An association that does not keep its responder.
struct WeakAssociation {
    weak var value: ActivityAssociation?
}
