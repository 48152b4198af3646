// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita

/// The few things that look other than libadwaita has them.
@MainActor
enum Looks {
    private static let sheet = """
        .handoff-code { font-size: 3.4em; letter-spacing: 0.12em; }
        .handoff-bars { background: alpha(@warning_bg_color, 0.2); border-bottom: 1px solid @borders; }
        .handoff-bars row:hover { background: none; }
        """

    /// Has all windows look so. To be called once there is a display.
    static func begin() {
        guard let display = gdk_display_get_default(), let provider = gtk_css_provider_new() else { return }
        gtk_css_provider_load_from_data(provider, sheet, -1)
        // GTK_STYLE_PROVIDER_PRIORITY_APPLICATION
        gtk_style_context_add_provider_for_display(display, provider, 600)
        g_object_unref(UnsafeMutableRawPointer(provider))
    }
}
