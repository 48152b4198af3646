// SPDX-License-Identifier: LGPL-2.1-or-later

/// Which activity is the current one, by the windows that the user works with. It does nothing itself: each call returns what
/// has to be done.
package struct FrontWindow<Window: Hashable, Activity: AnyObject> {
    /// What has to be done.
    package enum Action {
        /// The activity has to become the current one.
        case becomeCurrent(Activity)
        /// The activity must not be current any more, nor open.
        case resignCurrent(Activity)
        /// The activity must not be current any more, and stays open: its window is still there.
        case leaveCurrent(Activity)
        /// Ask again shortly which windows are active: from one window to another the first loses the focus first.
        case lookSoon
    }

    private var activities: [Window: Activity] = [:]
    /// The window that was last active.
    private var front: Window?
    /// The activity that was made current.
    private var current: Activity?

    /// No window yet.
    package init() {}

    /// The window shows another activity, or none.
    package mutating func show(_ activity: Activity?, in window: Window, isActive: Bool) -> [Action] {
        activities[window] = activity
        if isActive { front = window }
        return front == window && (isActive || current != nil) ? settle() : []
    }

    /// The window has become active.
    package mutating func activated(_ window: Window) -> [Action] {
        front = window
        return settle()
    }

    /// The window is no longer active.
    package mutating func deactivated(_ window: Window) -> [Action] {
        front == window && current != nil ? [.lookSoon] : []
    }

    /// A window that shows no activity, such as a dialog, has become active: the user works with what was in front before.
    package mutating func activatedAnother() -> [Action] { current == nil ? settle() : [] }

    /// A window that shows no activity is no longer active.
    package func deactivatedAnother() -> [Action] { current == nil ? [] : [.lookSoon] }

    /// What was asked for with ``Action/lookSoon``: whether any window of the application is active, one that shows no activity
    /// included, such as a dialog.
    package mutating func looked(anyIsActive: Bool) -> [Action] {
        guard !anyIsActive, let former = current else { return [] }
        current = nil
        return [.leaveCurrent(former)]
    }

    /// The window is gone.
    package mutating func closed(_ window: Window) -> [Action] {
        activities[window] = nil
        guard front == window else { return [] }
        front = nil
        return settle()
    }

    /// Makes current what the front window shows. What becomes current takes the place of what was.
    private mutating func settle() -> [Action] {
        let wanted = front.flatMap { activities[$0] }
        let former = current
        current = wanted
        if let wanted { return [.becomeCurrent(wanted)] }
        return former.map { [.resignCurrent($0)] } ?? []
    }
}
