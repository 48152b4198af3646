// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("hosts of devices")
struct SessionHostsTests {
    private func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    @Test(
        "are what ssh takes for a host, or for a user and a host",
        arguments: [
            "host", "me@host", "a.b-c_d", "10.0.0.1", "2001:db8::1", "0", String(repeating: "a", count: 255),
        ])
    func hosts(_ text: String) throws {
        #expect(try SessionHosts([id(1): text]).texts == [id(1): text])
    }

    @Test(
        "are nothing that ssh or a shell could take for something else",
        arguments: [
            "", "-oProxyCommand=x", "a b", "a;b", "$(x)", "`x`", "@host", "me@", "a@b@c", "me@-x", "a\nb",
            "a/b", "é", "[::1]",
            "ssh://host", "a'b", "a\"b", "%h", "~x", String(repeating: "a", count: 256),
        ])
    func others(_ text: String) {
        #expect(!SessionHosts.isHost(text))
        #expect(throws: HandoffFailure.self) { try SessionHosts([id(1): text]) }
    }

    @Test("belong to devices by their whole ids, one for each, as many as there can be peers")
    func devices() throws {
        #expect(throws: HandoffFailure.self) { try SessionHosts(["lap": "host"]) }
        #expect(throws: HandoffFailure.self) { try SessionHosts([String(id(1).dropLast()): "host"]) }
        var hosts = SessionHosts()
        for number in 0..<Quota.peers { try hosts.add(id(number), "host") }
        try hosts.add(id(0), "other")
        #expect(hosts.texts.count == Quota.peers && hosts.texts[id(0)] == "other")
        #expect(throws: HandoffFailure.self) { try hosts.add(id(Quota.peers), "host") }
    }
}
