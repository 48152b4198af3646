// SPDX-License-Identifier: LGPL-2.1-or-later

/// A match rule (D-Bus Specification, "Match Rules"), built from checked names only.
public struct MatchRule: Hashable, Sendable {
    /// The rule as the bus takes it.
    public let text: String

    /// Matches the signals of `interface` that `sender` emits.
    public init(
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

    private init(text: String) { self.text = text }

    /// Matches the signal of the bus that `name`, or a name that begins with `name` and a dot, has got or lost an owner.
    public static func ownerChange(atOrBelow name: BusName) -> MatchRule {
        let all = MatchRule(sender: "org.freedesktop.DBus", interface: .bus, member: "NameOwnerChanged")
        return MatchRule(text: all.text + ",arg0namespace='\(name)'")
    }

    /// Matches the signal of the bus that `name` has got or lost an owner.
    public static func ownerChange(of name: BusName) -> MatchRule {
        MatchRule(
            sender: "org.freedesktop.DBus", interface: .bus, member: "NameOwnerChanged", firstArgument: name)
    }
}
