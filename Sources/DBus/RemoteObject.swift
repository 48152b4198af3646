// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// An object on the other side of a connection: what a generated proxy calls.
@MainLoop
package struct RemoteObject {
    /// The connection that calls go through.
    package let connection: Connection
    /// The bus name, nil on a channel that is not a bus.
    package let destination: BusName?
    /// Where the other side serves it.
    package let path: ObjectPath

    /// The object that `destination` serves at `path`, which need not exist.
    package init(_ connection: Connection, _ destination: BusName?, _ path: ObjectPath) {
        self.connection = connection
        self.destination = destination
        self.path = path
    }

    /// Calls `member` with the arguments that `body` writes and waits for the reply.
    /// - Throws: see ``Connection/call(_:timeout:)``; also `InvalidArgs` if the reply's signature is not `output`.
    package func call(
        _ interface: InterfaceName, _ member: MemberName, output: String,
        timeout: Duration? = nil,
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) async throws -> Message {
        let message = try Message.call(to: destination, path, interface, member)
        var writer = MessageWriter(message)
        try body(&writer)
        let reply = try await connection.call(message, timeout: timeout)
        guard reply.hasSignature(output) else {
            throw DBusError(
                .inconsistentMessage,
                "\(interface).\(member) was answered with “\(reply.signature)” instead of “\(output)”.")
        }
        return reply
    }

    /// Calls `member` without waiting for a reply.
    package func post(
        _ interface: InterfaceName, _ member: MemberName,
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        let message = try Message.call(to: destination, path, interface, member)
        message.setNoReply()
        var writer = MessageWriter(message)
        try body(&writer)
        try connection.send(message)
    }

    /// Reads a property.
    package func property<Type: DBusType>(
        _ interface: InterfaceName, _ name: String, as: Type.Type = Type.self,
        timeout: Duration? = nil
    ) async throws -> Type {
        let reply = try await call(.properties, "Get", output: "v", timeout: timeout) {
            (writer) throws(DBusError) in
            try writer.write(interface.text)
            try writer.write(name)
        }
        var reader = MessageReader(reply)
        return try reader.variant(Type.typeSignature) { (reader) throws(DBusError) in try reader.read() }
    }

    /// Writes a property.
    package func setProperty<Type: DBusType>(
        _ interface: InterfaceName, _ name: String, _ value: Type
    ) async throws {
        let signature = try Signature(Type.typeSignature)
        _ = try await call(.properties, "Set", output: "") { (writer) throws(DBusError) in
            try writer.write(interface.text)
            try writer.write(name)
            try writer.variant(signature) { (writer) throws(DBusError) in try writer.write(value) }
        }
    }

    /// Reads all properties of an interface that the caller may read.
    package func properties(_ interface: InterfaceName) async throws -> [String: Value] {
        let reply = try await call(.properties, "GetAll", output: "a{sv}") { (writer) throws(DBusError) in
            try writer.write(interface.text)
        }
        var reader = MessageReader(reply)
        return try reader.read()
    }

    /// The objects that an `ObjectManager` lists, with their interfaces and properties.
    package func managedObjects() async throws -> [ObjectPath: [String: [String: Value]]] {
        let reply = try await call(
            .objectManager, "GetManagedObjects", output: "a{oa{sa{sv}}}"
        ) { (_) throws(DBusError) in }
        var reader = MessageReader(reply)
        return try reader.read()
    }
}

extension InterfaceName {
    /// `org.freedesktop.DBus.Properties`
    package static let properties: InterfaceName = "org.freedesktop.DBus.Properties"
    /// `org.freedesktop.DBus.ObjectManager`
    package static let objectManager: InterfaceName = "org.freedesktop.DBus.ObjectManager"
    /// `org.freedesktop.DBus.Introspectable`
    package static let introspectable: InterfaceName = "org.freedesktop.DBus.Introspectable"
    /// `org.freedesktop.DBus.Peer`
    package static let peer: InterfaceName = "org.freedesktop.DBus.Peer"
    /// `org.freedesktop.DBus`, the interface of the bus itself.
    package static let bus: InterfaceName = "org.freedesktop.DBus"
}
