// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CAdwaita
package import GTKObjects

/// Something that an application does for whoever asks: GTK puts it on the session bus, as desktops need it for what the
/// desktop entry names under `Actions`. So it must be harmless, however often it is done; everything else is for
/// ``Commands``.
@MainActor
package final class ExportedAction {
    private let action: GTKObject

    /// Adds what is called `app.NAME` to `application`.
    package init(_ name: String, of application: GTKObject, _ body: @escaping @MainActor () -> Void) {
        let action: OpaquePointer = g_simple_action_new(name, nil)
        self.action = GTKObject(action)
        // The value keeps a reference of its own.
        defer { g_object_unref(UnsafeMutableRawPointer(action)) }
        self.action.on("activate", body)
        g_action_map_add_action(application.pointer, action)
    }
}
