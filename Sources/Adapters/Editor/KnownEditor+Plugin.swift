// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

extension KnownEditor {
    /// Whether its plugin for Handoff is switched on, as far as its settings tell: only those of gedit do. This may block.
    var hasPlugin: Bool {
        guard id == "org.gnome.gedit",
            // Without the schema, which belongs to gedit, asking for the settings would end the program.
            let schema = g_settings_schema_source_get_default().flatMap({
                g_settings_schema_source_lookup($0, "org.gnome.gedit.plugins", 1)
            })
        else { return true }
        defer { g_settings_schema_unref(schema) }
        guard g_settings_schema_has_key(schema, "active-plugins") != 0 else { return true }
        let settings = g_settings_new_full(schema, nil, nil)
        defer { g_object_unref(UnsafeMutableRawPointer(settings)) }
        guard let plugins = g_settings_get_strv(settings, "active-plugins") else { return true }
        defer { g_strfreev(plugins) }
        return g_strv_contains(
            UnsafeRawPointer(plugins).assumingMemoryBound(to: UnsafePointer<gchar>?.self), "handoff") != 0
    }
}
