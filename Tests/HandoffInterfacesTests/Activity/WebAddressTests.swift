// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import HandoffInterfaces
import TestSupport
import Testing

@Suite("Addresses of web pages")
struct WebAddressTests {
    @Test(
        "only an address without user info and without a port names its host alone",
        arguments: [
            ("https://example.com", true), ("http://example.com/a:b@c?d@e:f#g@h:i", true),
            ("HTTPS://example.com?a", true), ("https://example.com#a", true),
            ("https://example.com:443/", false),
            ("https://example.com:/", false), ("https://user@example.com/", false),
            ("https://@example.com/", false), ("https://user:pass@example.com/", false),
            ("https://evil.example\\@example.com/", false), ("https://[::1]/", false), ("", false),
            ("https:", false), ("https:///", false),
        ])
    func hostAlone(_ text: String, _ isAlone: Bool) {
        #expect((WebAddress(text)?.namesHostAlone == true) == isAlone)
    }

    @Test(
        "an address that browsers take to another host than the one that is named is none",
        arguments: [
            "https://evil.example\\@trusted.example/", "https://evil.example\\.trusted.example/",
            "https:\\\\evil.example/", "https:/evil.example/", "https:evil.example", "https:///evil.example/",
            "https://trusted.example\\/a", "https://a@evil.example@trusted.example/",
            "https://trusted.example%2F@evil.example%2F/", "https://ex%61mple.com/", "https://exa%6Dple.com/",
            "http://0x7f.1/", "http://0x7F000001/", "http://2130706433/", "http://0177.0.0.1/",
            "http://127.1/",
            "http://127.0.0.1./", "http://1.2.3.4.5/", "http://a.0x/", "http://a.1/", "http://01.2.3.4/",
            "http://1.2.3.400/",
            "https://ex\u{AD}ample.com/", "https://ex\u{200D}ample.com/",
            "https://example。com/", "https://ｅxample.com/", "https://ſ.example/", "http://１.１.１.１/",
            "https://[fe80::1%25eth0]/", "https://[:]/", "https://xn--pokxncvks/", "https://[::1",
            "https://a|b.example/", "https://a<b.example/",
            "https://a^b/", "https://example.com:99999/", "https://example.com:1a/",
            "https://exam\u{9}ple.com/",
        ])
    func ambiguous(_ text: String) {
        #expect(WebAddress(text) == nil)
    }

    @Test(
        "what comes after the host may hold anything but white space",
        arguments: [
            "https://example.com/?q=a\\b", "https://example.com/#\\@evil.example",
            "https://example.com?\\@evil.example/",
            "https://example.com/@evil.example", "https://example.com/ü?%zz",
        ])
    func rest(_ text: String) {
        // GLib refuses what is no encoded byte.
        #expect(WebAddress(text)?.host == (text.contains("%zz") ? nil : "example.com"))
    }

    // MARK: The standard's own data

    private struct Case: Decodable {
        let input: String
        var base: String?
        var failure: Bool?
        var hostname: String?
        var `protocol`: String?
    }

    /// The test data of the URL Standard, which Debian's librust-url-dev brings along.
    private static let published: String? = {
        let folder = "/usr/share/cargo/registry"
        let crates = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return crates.filter { $0.hasPrefix("url-") }.map { "\(folder)/\($0)/tests/urltestdata.json" }
            .first { FileManager.default.fileExists(atPath: $0) }
    }()

    @Test(
        "of all published test data of the URL Standard, what is an address has the host that browsers find",
        .enabled(
            if: published != nil, "The test data of the URL Standard is missing. Install librust-url-dev."))
    func standard() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: #require(Self.published)))
        let entries = try #require(JSONSerialization.jsonObject(with: data) as? [Any])
        var count = 0
        for entry in entries where entry is [String: Any] {
            // Lone surrogates, which some cases have, are no text in Swift.
            guard let known = try? JSONSerialization.data(withJSONObject: entry),
                let one = try? JSONDecoder().decode(Case.self, from: known),
                let address = WebAddress(one.input)
            else { continue }
            count += 1
            #expect(one.failure != true && one.protocol?.hasPrefix("http") == true, "\(one.input)")
            #expect(Self.bare(one.hostname) == Self.bare(address.host), "\(one.input)")
        }
        #expect(count > 40, "There are hardly any cases.")
    }

    /// A host without brackets, an IPv6 address in one form.
    private static func bare(_ host: String?) -> String? {
        guard let host else { return nil }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        var bytes = in6_addr()
        guard bare.contains(":"), inet_pton(AF_INET6, bare, &bytes) == 1 else { return bare }
        return withUnsafeBytes(of: bytes) { $0.map { String($0, radix: 16) }.joined(separator: ":") }
    }
}
