// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// A URL of a file of one machine (RFC 8089, through GLib).
package struct FileURL {
    /// How such a URL begins.
    package static let scheme = "file:"

    /// The path of the file, absolute, as the system wants it. It need not be UTF-8.
    package let path: [UInt8]
    /// What follows the path in the URL: a query, a fragment, both or nothing.
    package let suffix: String

    /// The file that `text` names; nil unless it is a `file` URL with an absolute path and without another machine's
    /// name. Each `%` and what follows is decoded once.
    package init?(_ text: String) {
        guard Self.isFile(text), !text.utf8.contains(0) else { return nil }
        let end = text.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? text.endIndex
        var host: UnsafeMutablePointer<gchar>?
        // It may be there even if there is no file.
        defer { g_free(host) }
        guard let file = g_filename_from_uri(String(text[..<end]), &host, nil) else { return nil }
        defer { g_free(file) }
        let name = host.map { String(cString: $0).lowercased() } ?? ""
        guard name.isEmpty || name == "localhost" else { return nil }
        path = file.withMemoryRebound(to: UInt8.self, capacity: 1) { bytes in
            Array(UnsafeBufferPointer(start: bytes, count: strlen(file)))
        }
        suffix = String(text[end...])
    }

    /// Whether `text` begins as such URLs do.
    package static func isFile(_ text: String) -> Bool {
        text.utf8.prefix(scheme.utf8.count).elementsEqual(scheme.utf8) { $0 | 0x20 == $1 | 0x20 }
    }

    /// The URL of the file at `path`, which is absolute; nil if GLib can make none.
    package static func text(_ path: [UInt8], suffix: String = "") -> String? {
        guard !path.contains(0) else { return nil }
        let url = g_filename_to_uri(path.map { gchar(bitPattern: $0) } + [0], nil, nil)
        guard let url else { return nil }
        defer { g_free(url) }
        return String(cString: url) + suffix
    }
}
