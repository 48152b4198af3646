// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffBridge

@Suite("Addresses")
struct AddressTests {
    @Test(
        "what is an address is read and written alike",
        arguments: ["host:1", "a.b-c_d:65535", "192.168.1.2:80", "[::1]:22", "[fe80::1%eth0]:4000"])
    func legal(text: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(address.description == text)
    }

    @Test(
        "what is none is refused",
        arguments: [
            "", ":", "host", "host:", ":1", "host:0", "host:65536", "host:-1", "host:+1", "host: 1",
            "host:1 ",
            "host:00001x", "host:000001", "::1:22", "[::1]", "[]:1", "[host]:1", "h st:1", "host/x:1", "hö:1",
            "host\n:1", "host\0:1", "[::1%a b]:1", "user@host:1", "\(String(repeating: "a", count: 254)):1",
        ])
    func illegal(text: String) { #expect(NetworkAddress(text) == nil) }

    @Test("to listen, port 0 stands for any")
    func anyPort() {
        #expect(NetworkAddress("127.0.0.1:0", allowsAnyPort: true)?.port == 0)
        #expect(NetworkAddress("127.0.0.1:0") == nil)
    }
}
