// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Platform

extension KnownEditor {
    /// Where VS Code and its kin have what belongs to a user, in the home folder.
    private static let folders = [
        "code": ".vscode", "code-oss": ".vscode-oss", "codium": ".vscode-oss", "cursor": ".cursor",
        "windsurf": ".windsurf",
    ]

    /// Whether its plugin for Handoff is there and switched on, as far as that can be told: the settings of gedit do, and of VS
    /// Code and its kin the folder of the user's extensions. This may block.
    var hasPlugin: Bool {
        if let folder = Self.folders[id] {
            return FolderNames.all(in: "\(UserDirectories.home)/\(folder)/extensions").contains {
                // Whoever has published it.
                $0.firstMatch(of: /^[^.]+\.handoff-[0-9]/) != nil
            }
        }
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
