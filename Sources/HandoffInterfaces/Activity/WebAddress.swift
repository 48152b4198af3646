// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// The absolute `http` or `https` address of a web page whose host all programs agree on.
///
/// GLib follows RFC 3986, browsers the WHATWG URL Standard. An address that they would take to different hosts is none: the
/// user would see one host and open another.
package struct WebAddress: Equatable, Sendable {
    /// The host in lower case and ASCII form, an IPv6 address without brackets.
    package let host: String
    /// Whether it names a user, who may have a password, be the name empty.
    package let hasUserInfo: Bool
    /// Whether it names its host alone, without user info and without a port, be it empty, and no IPv6 address. Such
    /// addresses are the only ones that sites can give to applications.
    package let namesHostAlone: Bool

    /// The address that is written as `text`; nil if it is none.
    package init?(_ text: String) {
        // GLib lets white space and control characters through. Browsers take a backslash for a slash, GLib for user info.
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
            !text.utf8.prefix(while: { !"?#".utf8.contains($0) }).contains(UInt8(ascii: "\\")),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
            ["http", "https"].contains(text[..<colon].lowercased()),
            text.utf8[colon...].starts(with: "://".utf8), let known = Self.hostByGLib(text)
        else { return nil }
        let authority = text.utf8[colon...].dropFirst(3).prefix { !"/?#".utf8.contains($0) }
        let parts = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count <= 2, let place = parts.last else { return nil }
        hasUserInfo = parts.count == 2
        namesHostAlone = !authority.contains { "@:".utf8.contains($0) }
        if place.first == UInt8(ascii: "[") {
            // The names of interfaces mean something on one machine alone.
            var address = in6_addr()
            guard !place.contains(UInt8(ascii: "%")), inet_pton(AF_INET6, known, &address) == 1 else {
                return nil
            }
            host = known.lowercased()
            return
        }
        let name = String(decoding: place.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
        guard let host = Self.ascii(name), host == known.lowercased() else { return nil }
        self.host = host
    }

    /// The host that GLib takes `text` to; nil if it is no URI (RFC 3986) with a host.
    private static func hostByGLib(_ text: String) -> String? {
        guard let uri = g_uri_parse(text, G_URI_FLAGS_NONE, nil) else { return nil }
        defer { g_uri_unref(uri) }
        guard let host = g_uri_get_host(uri).map({ String(cString: $0) }), !host.isEmpty else { return nil }
        return host
    }

    /// The name `written` in ASCII form; nil if it is none that everybody reads alike.
    private static func ascii(_ written: String) -> String? {
        let name = written.lowercased()
        guard name.utf8.allSatisfy({ $0 >= 0x80 || isNameByte($0) }), let ascii = ActivityURL.asciiHost(name)
        else { return nil }
        // GLib spells names by IDNA 2003, browsers by UTS 46. They differ only about letters that one of them replaces, and
        // about what cannot be decoded.
        let isSpelt = name.utf8.allSatisfy { $0 < 0x80 }
        guard let unicode = unicodeHost(ascii), isSpelt || unicode == name,
            !ascii.contains("xn--") || ActivityURL.asciiHost(unicode) == ascii
        else { return nil }
        var address = in_addr()
        return !endsInNumber(ascii) || inet_pton(AF_INET, ascii, &address) == 1 ? ascii : nil
    }

    /// What names of hosts consist of. Of what else RFC 3986 allows, some browsers encode a part.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || "-._".utf8.contains(byte)
    }

    private static func unicodeHost(_ host: String) -> String? {
        guard let text = g_hostname_to_unicode(host) else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// Whether browsers take `host` for an IPv4 address, in one of its many forms (URL Standard, “ends in a number”).
    private static func endsInNumber(_ host: String) -> Bool {
        var labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.last?.isEmpty == true { labels.removeLast() }
        guard let last = labels.last, !last.isEmpty else { return false }
        if last.allSatisfy({ (0x30...0x39).contains($0) }) { return true }
        return last.starts(with: "0x".utf8)
            && last.dropFirst(2).allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
