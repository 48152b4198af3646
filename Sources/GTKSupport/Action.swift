// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CAdwaita

/// A command of an application or a window, which menus, buttons and shortcuts name.
@MainActor
public final class Action {
    private let action: GTKObject

    /// Adds a command to `map`, which is an application or a window.
    public init(_ name: String, of map: GTKObject, _ body: @escaping @MainActor () -> Void) {
        let action: OpaquePointer = g_simple_action_new(name, nil)
        self.action = GTKObject(action)
        // The value keeps a reference of its own.
        defer { g_object_unref(UnsafeMutableRawPointer(action)) }
        self.action.on("activate", body)
        g_action_map_add_action(map.pointer, action)
    }

    /// Whether it can be chosen now.
    public var isEnabled: Bool {
        get { action[flag: "enabled"] }
        set { action[flag: "enabled"] = newValue }
    }
}
