// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@testable import HandoffBroker

@Suite("What is kept of sites")
struct SitesMemoryTests {
    @Test("what was kept is read as it was")
    func roundTrip() throws {
        let known = [
            try #require(WebHost("example.com")): Site(
                considered: ["T.a", "T.b"], approved: ["T.a"], answeredAt: 5, askedAt: 7, failures: 1),
            try #require(WebHost("xn--bcher-kva.example.net")): Site(),
        ]
        #expect(SitesMemory.decode(SitesMemory.encode(known)) == known)
        #expect(SitesMemory.decode(SitesMemory.encode([:])) == [:])
    }

    @Test(
        "what cannot be understood counts for nothing, and the rest counts",
        arguments: [
            "", "\0", "garbage", "[", "[example.com", "[localhost]\nAsked=1\n", "[a.example.net]\nAsked=x\n",
            "[a.example.net]\nApproved=\\\n",
        ])
    func damaged(text: String) throws {
        #expect(SitesMemory.decode(Array(text.utf8)).isEmpty)
        let host = try #require(WebHost("b.example.net"))
        let good = Array((text.contains("\n") ? text : "").utf8) + Array("[b.example.net]\nAsked=7\n".utf8)
        #expect(SitesMemory.decode(good) == [host: Site(askedAt: 7)])
    }

    @Test("nobody is approved whom the site was not asked about, and there are not more than 512 sites")
    func bounds() throws {
        let host = try #require(WebHost("a.example.net"))
        let known = SitesMemory.decode(Array("[a.example.net]\nApproved=T.a;T.b;\nConsidered=T.b;\n".utf8))
        #expect(known[host]?.approved == ["T.b"])
        let odd = SitesMemory.decode(Array("[a.example.net]\nConsidered=T.b;\u{C}T.c;T d;x;\nAsked=1\n".utf8))
        #expect(odd[host]?.considered == ["T.b"])
        let many = (0..<2000).map { "[h\($0).example.net]\nAsked=1\n" }.joined()
        #expect(SitesMemory.decode(Array(many.utf8)).count == 512)
    }
}
