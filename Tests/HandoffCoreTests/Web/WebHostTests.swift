// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Web hosts and claims to them")
struct WebHostTests {
    private static let label = String(repeating: "a", count: 63)

    @Test(
        "a public name in lower case and ASCII form is a host",
        arguments: [
            "example.com", "www.example.com", "a.b", "xn--bcher-kva.example", "1.example", "a-b.c-d",
            "\(label).example", "local.example", "localhost.example", "127.0.0.1.example",
        ])
    func hosts(text: String) throws {
        #expect(try #require(WebHost(text)).description == text)
    }

    @Test(
        "IP addresses, localhost, .local, single labels, trailing dots, ports and everything else are no hosts",
        arguments: [
            "", "example", "localhost", "a.localhost", "printer.local", "example.com.", ".example.com",
            "a..b",
            "127.0.0.1", "0x7f.0.0.0x1", "10.1", "1.2.3.4", "[::1]", "::1", "fe80::1%eth0", "example.com:443",
            "user@example.com", "EXAMPLE.com", "bücher.example", "a_b.example", "-a.example", "a-.example",
            "a b.example", "a/b.example", "a\\b.example", "a%2e.example", "a\n.example", "*.example.com",
            "\(label)a.example", String(repeating: "a.", count: 127) + "a",
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
