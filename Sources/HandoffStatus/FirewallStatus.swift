// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient

/// What the bridge knows of a firewall that keeps other devices out, or may do so.
package struct FirewallStatus: Equatable, Sendable {
    /// What it is called.
    package let program: String
    /// Its zone; empty if it has none.
    package let zone: String
    /// What it does not let in, or has to, for example `45700-45799/tcp`.
    package let ports: [String]
    /// Whether it is known that this is not let in.
    package let isCertain: Bool
    /// The name by which it knows these ports; may be empty.
    package let service: String

    /// firewalld allows 17 characters.
    private static let longestZone = 32

    /// What the property `Firewall` says; nil if it says nothing.
    package init?(_ value: Value?) {
        guard let properties = value?.properties, !properties.text("Program").isEmpty else { return nil }
        program = properties.text("Program")
        zone = String(properties.text("Zone").prefix(Self.longestZone))
        ports = properties.texts("Ports")
        isCertain = properties.flag("Certain")
        service = properties.text("Service")
    }

    /// What the administrator types to let other devices in; nil if the firewall is not a known one, or has a name that
    /// a shell would not take as it is.
    package var commands: [String]? {
        guard (ports + [zone, service]).allSatisfy({ $0.utf8.allSatisfy(Self.isPlain) }), !zone.hasPrefix("-")
        else {
            return nil
        }
        switch program {
        case "firewalld":
            let lets = service.isEmpty ? ports.map { "--add-port=\($0)" } : ["--add-service=\(service)"]
            let zone = zone.isEmpty ? "" : " --zone=\(zone)"
            return [
                "sudo firewall-cmd --permanent\(zone) \(lets.joined(separator: " "))",
                "sudo firewall-cmd --reload",
            ]
        case "ufw":
            // It writes ranges with a colon.
            let lets = service.isEmpty ? ports.map { String($0.map { $0 == "-" ? ":" : $0 }) } : [service]
            return lets.map { "sudo ufw allow \($0)" }
        default: return nil
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
