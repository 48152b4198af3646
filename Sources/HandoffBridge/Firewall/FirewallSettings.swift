// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus

/// The settings of a zone or of a service, as firewalld gives them (firewalld.dbus(5), `getZoneSettings2` and
/// `getServiceSettings2`). Whatever is missing or of another form is as if it were empty.
struct FirewallSettings: Equatable, Sendable {
    /// The ports that are let in.
    var ports: [PortRange] = []
    /// The services that are let in, or what a service includes.
    var services: [String] = []
    /// Whether something is let in that is not looked at here, so that nothing can be said of what is not.
    var letsInMore = false

    /// More is not looked at.
    private static let maximum = 256

    /// What firewalld has said.
    init(_ settings: [String: Value]) {
        ports = Self.ports(settings["ports"])
        services = Array(
            ((settings["services"]?.strings ?? []) + (settings["includes"]?.strings ?? [])).prefix(
                Self.maximum))
        let rules = settings["rules_str"]?.strings ?? []
        letsInMore =
            settings["target"]?.string == "ACCEPT" || settings["protocols"]?.strings?.contains("tcp") == true
            || rules.contains { $0.split(separator: " ").contains("accept") }
    }

    private static func ports(_ value: Value?) -> [PortRange] {
        guard case .array(let array)? = value else { return [] }
        return array.elements.prefix(maximum).compactMap { element in
            guard case .structure(let structure) = element, structure.fields.count == 2,
                let ports = structure.fields[0].string, let transport = structure.fields[1].string
            else { return nil }
            return PortRange(ports, transport)
        }
    }
}
