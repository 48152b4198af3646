// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// Where the user's files of each kind are (XDG Base Directory Specification). GLib looks at the environment
/// only once.
public enum UserDirectories {
    /// The user's home folder.
    public static var home: String { String(cString: g_get_home_dir()) }
    /// `$XDG_RUNTIME_DIR`, by default the same as `$XDG_CACHE_HOME`.
    public static var runtime: String { String(cString: g_get_user_runtime_dir()) }
    /// `$XDG_CONFIG_HOME`, by default `~/.config`.
    public static var configuration: String { String(cString: g_get_user_config_dir()) }
    /// `$XDG_STATE_HOME`, by default `~/.local/state`.
    public static var state: String { String(cString: g_get_user_state_dir()) }
    /// `$XDG_DATA_HOME`, by default `~/.local/share`.
    public static var data: String { String(cString: g_get_user_data_dir()) }

    /// The folders for desktop entries, the most important first: `applications` in `$XDG_DATA_HOME`, then in each of
    /// `$XDG_DATA_DIRS`.
    public static var applications: [String] {
        var folders = ["\(data)/applications"]
        guard let list = g_get_system_data_dirs() else { return folders }
        var index = 0
        while let folder = list[index] {
            folders.append("\(String(cString: folder))/applications")
            index += 1
        }
        return folders
    }
}
