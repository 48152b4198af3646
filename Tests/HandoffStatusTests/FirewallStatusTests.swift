// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Testing

@testable import HandoffStatus

@Suite("A firewall, as the bridge tells of it")
struct FirewallStatusTests {
    private static func properties(
        _ program: String, _ zone: String = "", certain: Bool = true, service: String = "",
        ports: [String] = ["45700-45799/tcp", "5353/udp"]
    ) -> Value {
        .properties([
            "Program": .string(program), "Zone": .string(zone), "Ports": .strings(ports),
            "Certain": .boolean(certain),
            "Service": .string(service),
        ])
    }

    private static func report(_ firewall: Value?, connected: Bool) -> StatusReport {
        var bridge = BridgeStatus()
        bridge.port = 45701
        bridge.firewall = FirewallStatus(firewall)
        bridge.devices = [
            KnownDevice(
                "/org/example/Handoff/Bridge/devices/bb", id: "bb",
                ["Name": .string("lap"), "Paired": .boolean(true), "Connected": .boolean(connected)])
        ]
        return StatusReport(broker: .running(BrokerStatus()), bridge: .running(bridge))
    }

    @Test("the commands are those of the firewall, with its service where it has one")
    func commands() {
        #expect(
            FirewallStatus(Self.properties("firewalld", "public"))?.commands == [
                "sudo firewall-cmd --permanent --zone=public --add-port=45700-45799/tcp --add-port=5353/udp",
                "sudo firewall-cmd --reload",
            ])
        #expect(
            FirewallStatus(Self.properties("firewalld", "home", service: "handoff"))?.commands?.first
                == "sudo firewall-cmd --permanent --zone=home --add-service=handoff")
        #expect(
            FirewallStatus(Self.properties("ufw"))?.commands == [
                "sudo ufw allow 45700:45799/tcp", "sudo ufw allow 5353/udp",
            ])
        #expect(
            FirewallStatus(Self.properties("ufw", service: "Handoff"))?.commands == [
                "sudo ufw allow Handoff"
            ])
    }

    @Test("there is no command for what a shell would not take as it is, nor for an unknown firewall")
    func noCommands() {
        #expect(FirewallStatus(Self.properties("firewalld", "a; rm -r /"))?.commands == nil)
        #expect(FirewallStatus(Self.properties("firewalld", "-x"))?.commands == nil)
        #expect(FirewallStatus(Self.properties("ufw", ports: ["$(id)"]))?.commands == nil)
        #expect(FirewallStatus(Self.properties("nftables"))?.commands == nil)
    }

    @Test("nothing is said of no firewall")
    func nothing() {
        #expect(FirewallStatus(nil) == nil)
        #expect(FirewallStatus(.string("ufw")) == nil)
        #expect(FirewallStatus(.properties([:])) == nil)
        #expect(Self.report(nil, connected: true).problems.isEmpty)
    }

    @Test("what is not let in is a problem at any time; what may not be is one only while something is amiss")
    func problems() {
        let certain = Self.properties("firewalld", "public")
        let uncertain = Self.properties("ufw", certain: false)
        func texts(_ firewall: Value, connected: Bool) -> [String] {
            Self.report(firewall, connected: connected).problems.filter { $0.deviceID == nil }.map(\.text)
        }
        for connected in [true, false] {
            #expect(
                texts(certain, connected: connected) == [
                    "The firewall firewalld keeps other devices out: in the zone public it does not let in 45700-45799/tcp,"
                        + " 5353/udp."
                ])
        }
        #expect(texts(uncertain, connected: true).isEmpty)
        #expect(texts(uncertain, connected: false).count == 1)
    }
}
