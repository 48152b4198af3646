// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffBridge

@Suite("Addresses and machines")
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

    @Test(
        "machine-info is read as a shell would read it",
        arguments: [
            ("A=laptop", "laptop"), ("A=", ""), ("A=\"\"", ""), ("A=''", ""), ("A=\"My Desk\"", "My Desk"),
            ("A='My Desk'", "My Desk"), ("A=\"Tom\\\"s \\$5 \\\\ \\`x\\`\"", "Tom\"s $5 \\ `x`"),
            ("A='a\\b'", "a\\b"), ("A=\"a\\b\"", "a\\b"), ("A=My\\ Desk", "My Desk"),
            ("A=\"My \"'Desk'", "My Desk"),
            ("A='It'\\''s'", "It's"), ("A=\"it's\"", "it's"), ("A=\"x\" ", "x"), ("  A=\"x\"", "x"),
            ("A=\"x\"\r\nB=1", "x"),
            ("A=1\nA=2", "2"), ("A=1\nA=\"2", "1"), ("AA=1\nA=2\nAB=3", "2"), ("#A=1\nA=2", "2"),
            ("A=Ü ☃", "Ü ☃"),
        ])
    func machineInformation(text: String, value: String) {
        #expect(MachineInformation.value(of: "A", in: text) == value)
    }

    @Test(
        "in machine-info a value with broken quotes is none, and neither is that of another key",
        arguments: [
            "", "A", "A =1", "A=\"", "A='", "A=\"My Desk", "A=My Desk'", "A=\"My Desk'", "A=\"x\\\"", "AA=1",
            "B=A=1",
            "#A=1", "# A=1", "a=1",
        ])
    func brokenMachineInformation(text: String) {
        #expect(MachineInformation.value(of: "A", in: text) == nil)
    }

    @Test("every chassis has a known name or none")
    func chassis() {
        for type in -1...256 {
            let name = DeviceType.name(ofChassis: type)
            #expect(name.isEmpty || DeviceType.names.contains(name))
        }
        #expect(DeviceType.name(ofChassis: 9) == "laptop")
        #expect(DeviceType.checked("laptop") == "laptop")
        #expect(DeviceType.checked("Laptop") == "")
    }
}
