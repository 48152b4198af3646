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
        action = Self.added(name, nil, to: application)
        action.on("activate", body)
    }

    /// The same, with a text that whoever asks gives.
    package init(
        _ name: String, of application: GTKObject, text body: @escaping @MainActor (String) -> Void
    ) {
        let type: OpaquePointer = g_variant_type_new("s")
        defer { g_variant_type_free(type) }
        action = Self.added(name, type, to: application)
        action.on(
            "activate",
            first: { if let text = g_variant_get_string($0, nil) { body(String(cString: text)) } })
    }

    private static func added(
        _ name: String, _ type: OpaquePointer?, to application: GTKObject
    ) -> GTKObject {
        let action: OpaquePointer = g_simple_action_new(name, type)
        // The value keeps a reference of its own.
        defer { g_object_unref(UnsafeMutableRawPointer(action)) }
        g_action_map_add_action(application.pointer, action)
        return GTKObject(action)
    }
}
