// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Web hosts and claims to them")
struct WebHostTests {
    private static let label = String(repeating: "a", count: 63)

    @Test(
        "a public name in lower case and ASCII form is a host",
        arguments: [
            "home.com", "internal.net", "onion.org", "lan.example.com",
            "example.com", "www.example.com", "a.b", "xn--bcher-kva.example.net", "1.example.net", "a-b.c-d",
            "\(label).example.net", "local.example.net", "localhost.example.net", "127.0.0.1.example.net",
        ])
    func hosts(text: String) throws {
        #expect(try #require(WebHost(text)).description == text)
    }

    @Test(
        "IP addresses, localhost, .local, single labels, trailing dots, ports and everything else are no hosts",
        arguments: [
            "", "example", "localhost", "a.localhost", "printer.local", "example.com.", ".example.com",
            "a..b", "a.test", "a.invalid", "a.example", "metadata.google.internal", "router.home.arpa",
            "nas.lan", "a.onion",
            "a.home", "wiki.intranet", "a.corp", "a.private", "a.alt", "1.0.0.127.in-addr.arpa",
            "127.0.0.1", "0x7f.0.0.0x1", "10.1", "1.2.3.4", "[::1]", "::1", "fe80::1%eth0", "example.com:443",
            "user@example.com", "EXAMPLE.com", "bücher.example.net", "a_b.example.net", "-a.example.net",
            "a-.example.net",
            "a b.example.net", "a/b.example.net", "a\\b.example.net", "a%2e.example.net", "a\n.example.net",
            "*.example.com",
            "\(label)a.example.net", String(repeating: "a.", count: 127) + "a",
        ])
    func noHosts(text: String) {
        #expect(WebHost(text) == nil)
    }

    @Test(
        "a claim covers its host alone, one with an asterisk all hosts below it and not that one",
        arguments: [
            ("example.com", "example.com", true), ("example.com", "www.example.com", false),
            ("www.example.com", "example.com", false), ("example.com", "notexample.com", false),
            ("*.example.com", "www.example.com", true), ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false), ("*.example.com", "notexample.com", false),
            ("*.example.com", "example.com.evil.org", false), ("*.example.com", "www.example.org", false),
        ])
    func covers(claim: String, host: String, isCovered: Bool) throws {
        let claim = try #require(DomainClaim(claim))
        #expect(claim.covers(try #require(WebHost(host))) == isCovered)
    }

    @Test("a claim with an asterisk asks the host behind it")
    func asks() throws {
        #expect(DomainClaim("*.example.com")?.host == WebHost("example.com"))
        #expect(DomainClaim("*.example.com")?.description == "*.example.com")
        #expect(DomainClaim("example.com")?.description == "example.com")
    }

    @Test(
        "what is neither a host nor one behind an asterisk is no claim",
        arguments: [
            "*", "*.", "*.com", "*.*.example.com", "a.*.example.com", "*example.com", "", "*.127.0.0.1",
        ])
    func noClaims(text: String) {
        #expect(DomainClaim(text) == nil)
    }

    @Test("whatever a claim covers is it or below it by whole labels", arguments: 1...200)
    func property(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func name() throws -> String {
            let count = Int.random(in: 2...4, using: &generator)
            return try (0..<count).map { _ in try generator.pick(["a", "b", "ab", "ba"]) }.joined(
                separator: ".")
        }
        for _ in 0..<50 {
            let (claimed, asked) = (try name(), try name())
            let isWildcard = generator.chance(50)
            let claim = try #require(DomainClaim((isWildcard ? "*." : "") + claimed))
            let labels = (claimed.split(separator: "."), asked.split(separator: "."))
            let isBelow = labels.1.count > labels.0.count && labels.1.suffix(labels.0.count) == labels.0[...]
            #expect(claim.covers(try #require(WebHost(asked))) == (isWildcard ? isBelow : claimed == asked))
        }
    }
}
