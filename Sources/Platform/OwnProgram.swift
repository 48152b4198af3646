// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// The program that this process runs.
package enum OwnProgram {
    /// The folder that it is in, where those are that belong to it; nil if the system does not say.
    package static var folder: String? {
        guard let path = realpath("/proc/self/exe", nil) ?? link() else { return nil }
        defer { free(path) }
        let text = String(cString: path)
        return text.lastIndex(of: "/").map { String(text[..<$0]) }
    }

    /// What the link says if there is another file now, or none: the folder is right all the same.
    private static func link() -> UnsafeMutablePointer<CChar>? {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        return readlink("/proc/self/exe", &text, Int(PATH_MAX)) > 0 ? strdup(text) : nil
    }
}
