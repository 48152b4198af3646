// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import Platform

@Suite("What machine-info says")
struct MachineInformationTests {
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
}
