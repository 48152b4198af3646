// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop
internal import Platform

/// polkit on the system bus (polkit(8)): what this program may have done without anybody being asked for a password.
@MainLoop
struct PolicyAuthority {
    private static let name: BusName = "org.freedesktop.PolicyKit1"
    private static let path: ObjectPath = "/org/freedesktop/PolicyKit1/Authority"
    private static let interface: InterfaceName = "org.freedesktop.PolicyKit1.Authority"
    private static let timeout = Duration.seconds(5)
    /// Without AllowUserInteraction: this question itself asks nobody.
    private static let asksNobody: UInt32 = 0

    private let bus: Bus

    /// The one of the system bus `bus`.
    init(_ bus: Bus) { self.bus = bus }

    /// Whether the connection of this program may have `action` done as things are. It may not if there is no polkit, or
    /// none that answers.
    func allows(_ action: String) async -> Bool {
        let subject = ["name": Value.string(bus.uniqueName.text)]
        do {
            let reply = try await RemoteObject(bus.connection, Self.name, Self.path).call(
                Self.interface, "CheckAuthorization", output: "(bba{ss})", timeout: Self.timeout
            ) { (writer) throws(DBusError) in
                try writer.structure(of: "sa{sv}") { (writer) throws(DBusError) in
                    try writer.write("system-bus-name")
                    try writer.write(subject)
                }
                try writer.write(action)
                try writer.write([String: String]())
                try writer.write(Self.asksNobody)
                // Nobody will want to cancel it.
                try writer.write("")
            }
            var reader = MessageReader(reply)
            guard case .structure(let result) = try reader.readAnyValue() else { return false }
            return result.fields.first == .boolean(true)
        } catch {
            bridgeLog.debug("polkit does not say whether \(action) is allowed: \(error)")
            return false
        }
    }
}
