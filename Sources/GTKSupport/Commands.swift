// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CAdwaita
package import GTKObjects

/// The commands of a window, which its menus, buttons and shortcuts name as `PREFIX.NAME`.
///
/// The actions of an application and of its windows, `app.` and `win.`, are put on the session bus by GTK, where every program
/// can list and choose them. These are in a group of their own within the window, of which the bus is told nothing: only the
/// user can choose them.
@MainActor
package final class Commands {
    private let group: GTKObject
    private var commands: [String: GTKObject] = [:]

    /// No commands yet, for all that is in `window`. The prefix must be neither `app` nor `win`.
    package init(_ prefix: String, in window: GTKObject) {
        let new: UnsafeMutablePointer<GSimpleActionGroup> = g_simple_action_group_new()
        group = GTKObject(OpaquePointer(new))
        // The value keeps a reference of its own.
        defer { g_object_unref(UnsafeMutableRawPointer(new)) }
        gtk_widget_insert_action_group(window.pointer, prefix, group.pointer)
    }

    /// Adds a command, or puts it in the place of the one that had this name.
    package func add(_ name: String, _ body: @escaping @MainActor () -> Void) {
        let action: OpaquePointer = g_simple_action_new(name, nil)
        let command = GTKObject(action)
        defer { g_object_unref(UnsafeMutableRawPointer(action)) }
        command.on("activate", body)
        g_action_map_add_action(group.pointer, action)
        commands[name] = command
    }

    /// Whether the command of this name can be chosen now. One that is not there cannot.
    package subscript(isEnabled name: String) -> Bool {
        get { commands[name]?[flag: "enabled"] ?? false }
        set { commands[name]?[flag: "enabled"] = newValue }
    }
}
