// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import HandoffCore
import HandoffKit

/// Is an application with a current activity until its session ends, and goes on after that.
@MainActor
func outliveSession() {
    let application = HandoffApplication(id: "com.example.notes", activityTypes: ["com.example.notes.edit"])
    let activity = UserActivity(title: "Note", application: application)
    application.start()
    activity.becomeCurrent()
    Task {
        while !activity.isCurrent { await Task.yield() }
        print("current")
        fflush(nil)
    }
    HandoffApplication.run()
    check(!application.isRegistered && !HandoffApplication.isAvailable, "it counts as registered")
    check(!activity.isCurrent && activity.isValid, "the activity counts as current, or as ended")
    // All of it is accepted, and does nothing.
    activity.title = "Another note"
    activity.becomeCurrent()
    let former = application
    former.stop()
    former.start()
    Task {
        print("done")
        fflush(nil)
    }
    HandoffApplication.run()
    check(false, "what has no session ends once more")
}
