// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
package import HandoffCore

/// What URLs of an activity may be (RFC 3986, through GLib).
package enum ActivityURL {
    /// Checks the web address in the property `name`; empty is unset.
    /// - Returns: its host in lower case and ASCII form, nil if unset.
    /// - Throws: `InvalidURL` unless it is a ``WebAddress``.
    @discardableResult
    package static func checkWeb(_ text: String, _ name: String) throws(HandoffFailure) -> String? {
        if text.isEmpty { return nil }
        guard let address = WebAddress(text) else {
            throw HandoffFailure(
                .invalidURL,
                "\(name) \"\(PeerText.message(text))\" is not an absolute http or https URL with a host that all programs"
                    + " read alike. Use one, or \"\" for none."
            )
        }
        return address.host
    }

    /// The address of a web page with its scheme in lower case, as which all programs know it.
    package static func plain(_ text: String) -> String {
        let end = text.firstIndex(of: ":") ?? text.startIndex
        return text[..<end].lowercased() + text[end...]
    }

    /// Checks the document's address; empty is unset.
    /// - Throws: `InvalidURL` unless it is a `file` URL of this machine with an absolute path.
    package static func checkDocument(_ text: String) throws(HandoffFailure) {
        if text.isEmpty { return }
        // Names of files are bytes, and need not be text.
        guard isFile(text) else {
            throw HandoffFailure(
                .invalidURL,
                "DocumentURL \"\(PeerText.message(text))\" is not a file URL of this machine. Use file:///…, or \"\" for none."
            )
        }
    }

    private static func isFile(_ text: String) -> Bool {
        // GLib lets white space and control characters through.
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
            let uri = g_uri_parse(text, G_URI_FLAGS_ENCODED, nil)
        else { return false }
        defer { g_uri_unref(uri) }
        func part(_ text: UnsafePointer<gchar>?) -> String { text.map { String(cString: $0) } ?? "" }
        return part(g_uri_get_scheme(uri)) == "file"
            && ["", "localhost"].contains(part(g_uri_get_host(uri)))
            && part(g_uri_get_path(uri)).hasPrefix("/")
    }

    /// The MIME type of the document at `text` by its name, as far as `types` knows names; nil if unset.
    package static func documentType(_ text: String, _ types: FileNameTypes) -> String? {
        guard !text.isEmpty, let file = g_filename_from_uri(text, nil, nil) else { return nil }
        defer { g_free(file) }
        return types.type(
            of: file.withMemoryRebound(to: UInt8.self, capacity: 1) { bytes in
                Array(UnsafeBufferPointer(start: bytes, count: strlen(file)))
            })
    }

    /// `host` in lower case and ASCII form, as DNS knows it; nil if it has none.
    package static func asciiHost(_ host: String) -> String? {
        guard let text = g_hostname_to_ascii(host) else { return nil }
        defer { g_free(text) }
        return String(cString: text).lowercased()
    }
}
