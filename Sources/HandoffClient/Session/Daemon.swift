// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffInterfaces
package import MainLoop

/// A connection that owns the name of a daemon.
///
/// It is called by its unique name, so that a call never starts another one, and fails at once if it ends in the meantime.
@MainLoop
package struct Daemon {
    /// The bus that it is on.
    package let bus: Bus
    /// Its unique name.
    package let name: BusName

    /// The connection `name` on `bus`.
    package init(bus: Bus, name: BusName) {
        self.bus = bus
        self.name = name
    }

    /// The object that it serves at `path`.
    package func object(_ path: ObjectPath) -> RemoteObject { RemoteObject(bus.connection, name, path) }

    /// The broker's root object.
    package var manager: ManagerProxy { ManagerProxy(object(HandoffNames.brokerPath)) }

    /// What the broker shows: activities and offers. From now on, it also tells this connection of changes.
    package func brokerObjects(
        timeout: Duration? = nil
    ) async throws -> ManagedObjects {
        try await managedObjects(HandoffNames.brokerPath, timeout)
    }

    /// What the object manager at `path` lists.
    package func managedObjects(
        _ path: ObjectPath, _ timeout: Duration? = nil
    ) async throws -> ManagedObjects {
        let reply = try await object(path).call(
            .objectManager, "GetManagedObjects", output: "a{oa{sa{sv}}}", timeout: timeout
        ) { _ in }
        var reader = MessageReader(reply)
        return try reader.read()
    }

    /// All properties of `interface` at `path`.
    package func properties(
        _ interface: InterfaceName, _ path: ObjectPath, timeout: Duration? = nil
    ) async throws -> [String: Value] {
        let reply = try await object(path).call(.properties, "GetAll", output: "a{sv}", timeout: timeout) {
            (writer) throws(DBusError) in try writer.write(interface.text)
        }
        var reader = MessageReader(reply)
        return try reader.read()
    }
}
