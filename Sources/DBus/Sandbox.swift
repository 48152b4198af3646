// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus
internal import CGio
internal import Glibc
internal import MainLoop

extension Sandbox {
    /// The sandbox of the process that `credentials` name, nil for none. Only the kernel's word counts: the
    /// process's root directory and control group, which it cannot choose.
    static func of(_ credentials: Credentials) -> Sandbox? {
        guard credentials.userID == getuid() else { return .unknown }
        guard let process = credentials.processID, process > 0 else { return .unknown }
        return of(rootDirectory: "/proc/\(process)/root", controlGroups: "/proc/\(process)/cgroup")
    }

    /// The same from the process's root directory and its list of control groups.
    static func of(rootDirectory: String, controlGroups: String) -> Sandbox? {
        // Not blocking: whoever made that root may have put a pipe there.
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let information = open("\(rootDirectory)/.flatpak-info", flags)
        if information >= 0 {
            defer { close(information) }
            return .flatpak(application: flatpakApplication(information))
        }
        // A root that cannot be looked into hides something.
        if errno != ENOENT { return .unknown }
        guard let groups = contents(of: controlGroups) else { return .unknown }
        return snap(in: groups).map { .snap(name: $0) }
    }

    /// The snap that a list of control groups names: `…/snap.NAME.APP….scope` or `….service`.
    static func snap(in controlGroups: String) -> String? {
        for line in controlGroups.split(separator: "\n") {
            for element in line.split(separator: "/") where element.hasPrefix("snap.") {
                let parts = element.split(separator: ".")
                if parts.count >= 3, element.hasSuffix(".scope") || element.hasSuffix(".service") {
                    return String(parts[1])
                }
            }
        }
        return nil
    }

    /// The longest `.flatpak-info` that is read: one lists all mounts and permissions of its application.
    private static let maximumInformation = 1 << 20

    /// The id in this `.flatpak-info`, empty if there is none: then no id is that application's own.
    private static func flatpakApplication(_ information: Int32) -> String {
        var status = stat()
        guard fstat(information, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            (1...maximumInformation).contains(Int(status.st_size))
        else { return "" }
        var text = [CChar](repeating: 0, count: Int(status.st_size))
        let count = read(information, &text, text.count)
        let file = g_key_file_new()
        defer { g_key_file_unref(file) }
        guard count > 0, g_key_file_load_from_data(file, text, gsize(count), G_KEY_FILE_NONE, nil) != 0,
            let name = g_key_file_get_string(file, "Application", "name", nil)
        else { return "" }
        defer { g_free(name) }
        return String(cString: name)
    }

    /// A small text file, nil if it cannot be read.
    private static func contents(of path: String) -> String? {
        var (text, length): (UnsafeMutablePointer<CChar>?, gsize) = (nil, 0)
        guard g_file_get_contents(path, &text, &length, nil) != 0, let text else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }
}
