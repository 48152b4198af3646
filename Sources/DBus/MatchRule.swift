// SPDX-License-Identifier: LGPL-2.1-or-later

/// A match rule (D-Bus Specification, "Match Rules"), built from checked names only.
package struct MatchRule: Hashable, Sendable {
    /// The rule as the bus takes it.
    package private(set) var text: String

    /// Matches the signals of `interface` that `sender` emits.
    package init(
        sender: BusName, interface: InterfaceName, member: MemberName? = nil, path: ObjectPath? = nil,
        firstArgument: BusName? = nil
    ) {
        var text = "type='signal',sender='\(sender)',interface='\(interface)'"
        if let member { text += ",member='\(member)'" }
        if let path { text += ",path='\(path)'" }
        // The characters of a bus name need no quoting.
        if let firstArgument { text += ",arg0='\(firstArgument)'" }
        self.text = text
    }

    /// Matches this signal, whoever emits it.
    package static func signal(_ interface: InterfaceName, _ member: MemberName) -> MatchRule {
        var rule = MatchRule(sender: "org.freedesktop.DBus", interface: interface, member: member)
        rule.text = "type='signal',interface='\(interface)',member='\(member)'"
        return rule
    }

    /// Matches the signal of the bus that `name` has got or lost an owner.
    package static func ownerChange(of name: BusName) -> MatchRule {
        MatchRule(
            sender: "org.freedesktop.DBus", interface: .bus, member: "NameOwnerChanged", firstArgument: name)
    }

    /// Matches the signals of the bus that `namespace`, or a name that begins with it and a dot, has got or lost an owner.
    package static func ownerChanges(within namespace: BusName) -> MatchRule {
        var rule = MatchRule(sender: "org.freedesktop.DBus", interface: .bus, member: "NameOwnerChanged")
        rule.text += ",arg0namespace='\(namespace)'"
        return rule
    }
}
