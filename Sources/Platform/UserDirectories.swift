// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// Where the user's files of each kind are (XDG Base Directory Specification). GLib looks at the environment
/// only once.
package enum UserDirectories {
    /// `$HOME`, or what the user database says.
    package static var home: String { String(cString: g_get_home_dir()) }
    /// `$XDG_RUNTIME_DIR`, by default the same as `$XDG_CACHE_HOME`.
    package static var runtime: String { String(cString: g_get_user_runtime_dir()) }
    /// `$XDG_CONFIG_HOME`, by default `~/.config`.
    package static var configuration: String { String(cString: g_get_user_config_dir()) }
    /// `$XDG_CACHE_HOME`, by default `~/.cache`.
    package static var cache: String { String(cString: g_get_user_cache_dir()) }
    /// `$XDG_STATE_HOME`, by default `~/.local/state`.
    package static var state: String { String(cString: g_get_user_state_dir()) }
    /// `$XDG_DATA_HOME`, by default `~/.local/share`.
    package static var data: String { String(cString: g_get_user_data_dir()) }

    /// The folder for downloads that `user-dirs.dirs` names (xdg-user-dirs), or else the home folder. GLib reads
    /// the file only once.
    package static var downloads: String {
        String(cString: g_get_user_special_dir(G_USER_DIRECTORY_DOWNLOAD) ?? g_get_home_dir())
    }

    /// The folders for desktop entries, the most important first: `applications` in `$XDG_DATA_HOME`, then in each of
    /// `$XDG_DATA_DIRS`.
    package static var applications: [String] { allData.map { "\($0)/applications" } }

    /// The folders for data, the most important first: `$XDG_DATA_HOME`, then each of `$XDG_DATA_DIRS`.
    package static var allData: [String] { [data] + folders(g_get_system_data_dirs()) }

    /// The folders for configuration, the most important first: `$XDG_CONFIG_HOME`, then each of `$XDG_CONFIG_DIRS`.
    package static var allConfiguration: [String] { [configuration] + folders(g_get_system_config_dirs()) }

    private static func folders(_ list: UnsafePointer<UnsafePointer<CChar>?>?) -> [String] {
        guard let list else { return [] }
        var (folders, index): ([String], Int) = ([], 0)
        while let folder = list[index] {
            folders.append(String(cString: folder))
            index += 1
        }
        return folders
    }
}
