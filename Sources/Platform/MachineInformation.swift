// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// The file `/etc/machine-info` (machine-info(5)).
package enum MachineInformation {
    /// The value of `key`, nil if there is none.
    package static func value(of key: String) -> String? {
        guard let bytes = (try? SmallFile.read("/etc/machine-info", maximumSize: 1 << 16)) ?? nil else {
            return nil
        }
        return value(of: key, in: String(decoding: bytes, as: UTF8.self))
    }

    /// The value of `key` in the text of such a file, as a shell would read it, with its quotes and
    /// backslashes. If there are several assignments, the last one that a shell understands counts.
    static func value(of key: String, in text: String) -> String? {
        var value: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let assignment = line.drop(while: \.isWhitespace)
            guard assignment.hasPrefix("\(key)=") else { continue }
            value = unquoted(assignment.dropFirst(key.count + 1)) ?? value
        }
        return value
    }

    /// `text` without its quotes; nil if they are broken.
    private static func unquoted(_ text: Substring) -> String? {
        let end = text.lastIndex { !$0.isWhitespace }
        let value = g_shell_unquote(end.map { String(text[...$0]) } ?? "", nil)
        defer { g_free(value) }
        guard let value else { return nil }
        return String(cString: value)
    }
}
