// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus

/// What is known of a firewall on this machine that keeps other devices out, or may do so.
struct FirewallFinding: Equatable, Sendable {
    /// The firewall.
    enum Program: String, Sendable { case firewalld, ufw }

    let program: Program
    /// The zone that this machine is in, where the firewall has zones.
    var zone = ""
    /// What it does not let in; or if that is not known, what it has to let in.
    let ports: [PortRange]
    /// Whether it is known that they are not let in.
    let isCertain: Bool
    /// What the firewall calls Handoff, if it knows these ports by a name; else empty.
    var service = ""

    /// As the bus is shown it.
    var properties: [String: Value] {
        [
            "Program": .string(program.rawValue), "Zone": .string(zone), "Ports": .strings(ports.map(\.text)),
            "Certain": .boolean(isCertain), "Service": .string(service),
        ]
    }
}
