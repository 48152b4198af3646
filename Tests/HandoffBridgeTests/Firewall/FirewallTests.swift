// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Testing

@testable import HandoffBridge

@Suite("What a firewall lets in")
struct FirewallTests {
    private static let needed = PortRange(45700...45799, "tcp")

    private static func pair(_ ports: String, _ transport: String) throws -> Value {
        try .structure([.string(ports), .string(transport)])
    }

    @Test(
        "ports are numbers and ranges, and nothing else",
        arguments: [
            ("45700-45799", 45700...45799), ("22", 22...22), ("0-65535", 0...65535), ("", nil), ("ssh", nil),
            ("2-1", nil),
            ("65536", nil), ("1-2-3", nil), ("-5", nil), ("5-", nil),
        ] as [(String, ClosedRange<UInt16>?)])
    func ports(text: String, expected: ClosedRange<UInt16>?) {
        #expect(PortRange(text, "tcp")?.ports == expected)
    }

    @Test("a range is let in if each of its ports is, by whichever entries, of the same protocol")
    func covered() {
        func isCovered(_ others: [(ClosedRange<UInt16>, String)]) -> Bool {
            Self.needed.isCovered(by: others.map { PortRange($0.0, $0.1) })
        }
        #expect(isCovered([(45700...45799, "tcp")]))
        #expect(isCovered([(45750...65535, "tcp"), (1...45749, "tcp")]))
        #expect(isCovered([(45700...45720, "tcp"), (45710...45799, "tcp"), (1...2, "tcp")]))
        #expect(!isCovered([]))
        #expect(!isCovered([(45700...45799, "udp")]))
        #expect(!isCovered([(45700...45748, "tcp"), (45750...45799, "tcp")]))
        #expect(!isCovered([(45701...45799, "tcp")]))
        #expect(PortRange(65535...65535, "tcp").isCovered(by: [PortRange(0...65535, "tcp")]))
    }

    @Test("a port that is alone is written as one")
    func written() {
        #expect(Self.needed.text == "45700-45799/tcp")
        #expect(PortRange.multicastDNS.text == "5353/udp")
    }

    @Test("of firewalld's settings, ports, services and includes count; what lets in more is seen")
    func settings() throws {
        let zone = FirewallSettings([
            "ports": try .array(of: "(ss)", [Self.pair("22", "tcp"), Self.pair("nonsense", "tcp")]),
            "services": .strings(["ssh"]), "includes": .strings(["mdns"]), "target": .string("default"),
            "rules_str": .strings(["rule service name=\"ftp\" reject"]),
        ])
        #expect(zone.ports == [PortRange(22...22, "tcp")])
        #expect(zone.services == ["ssh", "mdns"])
        #expect(!zone.letsInMore)
        #expect(FirewallSettings(["target": .string("ACCEPT")]).letsInMore)
        #expect(FirewallSettings(["protocols": .strings(["tcp"])]).letsInMore)
        #expect(FirewallSettings(["rules_str": .strings(["rule family=\"ipv4\" accept"])]).letsInMore)
    }

    @Test("settings of other types than they should have are as if they were empty")
    func nonsense() throws {
        let names = ["ports", "services", "includes", "target", "protocols", "rules_str"]
        let triples = try Value.array(of: "(sss)", [])
        for value in [Value.int32(7), .string("tcp"), .strings(["a", "b"]), triples] {
            let settings = FirewallSettings(Dictionary(uniqueKeysWithValues: names.map { ($0, value) }))
            #expect(settings.ports.isEmpty && !settings.letsInMore)
        }
    }

    @Test(
        "the last assignment of a file of ufw counts, with or without quotation marks",
        arguments: [
            ("ENABLED=yes", "yes"), ("ENABLED=\"yes\"\n", "yes"),
            ("# ENABLED=no\nENABLED=yes # really", "yes"),
            ("ENABLED=no\nENABLED = yes", "yes"), ("XENABLED=yes", nil), ("", nil), ("ENABLED", nil),
        ] as [(String, String?)])
    func ufw(text: String, expected: String?) {
        #expect(UncomplicatedFirewall.value("ENABLED", in: text) == expected)
    }

    @Test("the default route with the least metric counts, and only a default route")
    func routes() {
        let four = """
            Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
            wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
            eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
            docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
            """
        #expect(DefaultRoute.interface(fourText: four) == "eth0")
        #expect(DefaultRoute.interface(fourText: "Iface\neth0\t1") == nil)
        let zero = String(repeating: "0", count: 32)
        let six = """
            fe80\(zero.dropFirst(4)) 40 \(zero) 00 \(zero) 00000100 00000001 00000000 00000001     eth0
            \(zero) 00 \(zero) 00 \(zero) 00000400 00000001 00000000 00000003    wlan0
            \(zero) 00 \(zero) 00 \(zero) ffffffff 00000001 00000000 00200200       lo
            """
        #expect(DefaultRoute.interface(sixText: six) == "wlan0")
        #expect(DefaultRoute.interface(sixText: "") == nil)
    }
}
