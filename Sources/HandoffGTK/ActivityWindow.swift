// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGTK
internal import GTKObjects
public import HandoffKit

/// A window of GTK that shows an activity. The activity is the current one while the window is active, and stays so in a
/// dialog of the application. When the user goes to another application it is no longer current, and stays open
/// until its window shows another one or is closed.
///
/// ```swift
/// let front = ActivityWindow(window)
/// front.onUpdateState = { activity in activity.userInfo["page"] = 12 }
/// front.userActivity = UserActivity(activityType: "org.example.notes.edit", title: "Shopping")
/// ```
@MainActor
public final class ActivityWindow {
    /// Saves what the window shows into the activity.
    public var onUpdateState: (@MainActor (UserActivity) -> Void)?
    /// Shows what is in the activity, which was continued from another device.
    public var onRestoreState: (@MainActor (UserActivity) -> Void)?

    /// The window as what shows an activity, for whoever wants to have it restored from one.
    public var responder: any UserActivityResponder { association }

    private let window: GTKObject
    private lazy var association = ClosureResponder(
        update: { [weak self] activity in self?.onUpdateState?(activity) },
        restore: { [weak self] activity in self?.onRestoreState?(activity) })
    private static var front = FrontWindow<OpaquePointer, UserActivity>()
    /// The windows whose ``activeChanged(_:)`` or the like is called.
    private static var watched: Set<OpaquePointer> = []

    /// The activity of a `GtkWindow`, for as long as this value lives and the window is there.
    public init(_ window: OpaquePointer) {
        self.window = GTKObject(window)
        Self.watched.insert(window)
        self.window.on("notify::is-active") { Self.activeChanged(window) }
        self.window.on("destroy") { [weak self] in
            Self.watched.remove(window)
            self?.userActivity = nil
            Self.perform(Self.front.closed(window))
        }
    }

    isolated deinit { Self.perform(Self.front.closed(window.pointer)) }

    /// What the user is doing in the window; nil for nothing that can be continued.
    public var userActivity: UserActivity? {
        get { association.userActivity }
        set {
            association.userActivity = newValue
            let isActive = gtk_window_is_active(window.pointer) != 0
            Self.perform(Self.front.show(newValue, in: window.pointer, isActive: isActive))
        }
    }

    private static func activeChanged(_ window: OpaquePointer) {
        perform(gtk_window_is_active(window) != 0 ? front.activated(window) : front.deactivated(window))
    }

    private static func perform(_ actions: [FrontWindow<OpaquePointer, UserActivity>.Action]) {
        for action in actions {
            // An activity that the application has ended is no longer that of its window.
            switch action {
            case .becomeCurrent(let activity):
                if activity.isValid { activity.becomeCurrent() }
            case .resignCurrent(let activity):
                if activity.isValid { activity.resignCurrent() }
            case .leaveCurrent(let activity):
                if activity.isValid { activity.leaveCurrent() }
            case .lookSoon:
                Later.call(afterMilliseconds: 50) { look() }
            }
        }
    }

    private static func look() {
        guard let window = activeWindow else { return perform(front.looked(anyIsActive: false)) }
        perform(front.looked(anyIsActive: true))
        guard !watched.contains(window) else { return }
        // A dialog, which has no value of this class that tells when the user leaves it.
        watched.insert(window)
        let dialog = GTKObject(window)
        dialog.on("notify::is-active") {
            let isActive = gtk_window_is_active(window) != 0
            perform(isActive ? front.activatedAnother() : front.deactivatedAnother())
        }
        dialog.on("destroy") { watched.remove(window) }
    }

    /// The window of this process that is active, whoever made it.
    private static var activeWindow: OpaquePointer? {
        let windows = gtk_window_list_toplevels()
        defer { g_list_free(windows) }
        var next = windows
        while let link = next {
            if let window = link.pointee.data.map({ OpaquePointer($0) }), gtk_window_is_active(window) != 0 {
                return window
            }
            next = link.pointee.next
        }
        return nil
    }
}
