// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CAdwaita

/// How widgets look, where a program needs it otherwise than the theme has it.
@MainActor
package enum StyleSheet {
    /// GTK_STYLE_PROVIDER_PRIORITY_APPLICATION
    private static let priority: UInt32 = 600

    /// Has all windows of the program follow `rules`, in the CSS that GTK understands; it says on standard error what it does
    /// not. Nothing happens without a display.
    package static func add(_ rules: String) {
        guard let display = gdk_display_get_default() else { return }
        let provider: OpaquePointer = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, rules, -1)
        gtk_style_context_add_provider_for_display(display, provider, priority)
        // The display has it now.
        g_object_unref(UnsafeMutableRawPointer(provider))
    }
}
