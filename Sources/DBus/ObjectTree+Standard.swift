// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus

/// `org.freedesktop.DBus.Introspectable`, `Peer`, `Properties` (D-Bus Specification, "Standard Interfaces").
extension ObjectTree {
    nonisolated static let standard: [InterfaceName] = [.properties, .introspectable, .peer, .objectManager]

    func handleStandard(
        _ message: Message, _ path: ObjectPath, _ member: String, from caller: Caller,
        began: (MethodCall) -> Void
    ) throws -> Begun {
        let interface = message.interface ?? ""
        if interface == InterfaceName.peer.text { return .done(try handlePeer(message, member)) }
        let object = objects[path].flatMap { isVisible($0, to: caller) ? $0 : nil }
        switch (interface, member) {
        case (InterfaceName.introspectable.text, "Introspect"):
            guard object != nil || isAncestor(path, for: caller) else {
                throw unknownObject(path, caller, member)
            }
            try expect("", message)
            return .done(try reply(message, introspection(of: path, object, for: caller)))
        case (InterfaceName.objectManager.text, "GetManagedObjects") where managers[path] != nil:
            try expect("", message)
            return .done(try managedObjects(message, path, for: caller))
        case (InterfaceName.properties.text, _):
            guard let object else { throw unknownObject(path, caller, member) }
            return try handleProperties(message, member, object, from: caller, began: began)
        default:
            guard object != nil || isAncestor(path, for: caller) else {
                throw unknownObject(path, caller, member)
            }
            throw DBusError.unknownMethod("\(path) has no method \(member) of \(interface).")
        }
    }

    private func expect(_ signature: String, _ message: Message) throws {
        guard message.hasSignature(signature) else {
            throw DBusError.invalidArgs(
                "\(message.interface ?? "").\(message.member ?? "") takes “\(signature)”, not “\(message.signature)”."
            )
        }
        try message.checkBody()
    }

    private func reply(_ call: Message, _ text: String) throws -> Message {
        let reply = try Message.reply(to: call)
        var writer = MessageWriter(reply)
        try writer.write(text)
        return reply
    }

    private func handlePeer(_ message: Message, _ member: String) throws -> Message {
        switch member {
        case "Ping":
            try expect("", message)
            return try Message.reply(to: message)
        case "GetMachineId":
            try expect("", message)
            guard let text = dbus_try_get_local_machine_id(nil) else {
                throw DBusError(.failed, "This machine has no machine id.")
            }
            defer { dbus_free(text) }
            return try reply(message, String(cString: text))
        default: throw DBusError.unknownMethod("\(InterfaceName.peer) has no method \(member).")
        }
    }

    // MARK: Properties

    private func handleProperties(
        _ message: Message, _ member: String, _ object: ExportedObject, from caller: Caller,
        began: (MethodCall) -> Void
    ) throws -> Begun {
        switch member {
        case "Get":
            try expect("ss", message)
            return .done(try getProperty(message, object, from: caller))
        case "GetAll":
            try expect("s", message)
            var reader = MessageReader(message)
            let interface: String = try reader.read()
            let reply = try Message.reply(to: message)
            var writer = MessageWriter(reply)
            if Self.standard.contains(where: { $0.text == interface }) {
                // The standard interfaces have no properties.
                try writer.write([String: Value]())
            } else {
                let binding = try binding(interface, of: object, for: caller)
                try writeProperties(of: binding, of: object, for: caller, to: &writer)
                hasRead(type(of: binding).description.name, at: object.path, caller)
            }
            return .done(reply)
        case "Set":
            try expect("ssv", message)
            return try setProperty(message, object, from: caller, began: began)
        default: throw DBusError.unknownMethod("\(InterfaceName.properties) has no method \(member).")
        }
    }

    private func binding(
        _ interface: String, of object: ExportedObject, for caller: Caller
    ) throws -> any InterfaceBinding {
        guard let binding = object.binding(interface), isVisible(binding, of: object, to: caller) else {
            throw DBusError(.unknownInterface, "\(object.path) has no interface \(interface.prefix(256)).")
        }
        return binding
    }

    private func findProperty(
        _ name: String, _ binding: any InterfaceBinding
    ) throws -> (Int, InterfaceDescription.Property) {
        let description = type(of: binding).description
        guard let index = description.property(named: name) else {
            throw DBusError(.unknownProperty, "\(description.name) has no property \(name.prefix(256)).")
        }
        return (index, description.properties[index])
    }

    private func getProperty(_ message: Message, _ object: ExportedObject, from caller: Caller) throws
        -> Message
    {
        var reader = MessageReader(message)
        let (interface, name): (String, String) = (try reader.read(), try reader.read())
        let binding = try binding(interface, of: object, for: caller)
        let (index, property) = try findProperty(name, binding)
        try authorize(caller, object, type(of: binding).description.name, name, property.access)
        guard property.isReadable else { throw DBusError.invalidArgs("\(interface).\(name) cannot be read.") }
        let reply = try Message.reply(to: message)
        var writer = MessageWriter(reply)
        try writer.variant(holding: property.signature) { (writer) throws(DBusError) in
            try binding.read(index, into: &writer)
        }
        return reply
    }

    private func setProperty(
        _ message: Message, _ object: ExportedObject, from caller: Caller, began: (MethodCall) -> Void
    ) throws -> Begun {
        var reader = MessageReader(message)
        let (interface, name): (String, String) = (try reader.read(), try reader.read())
        let binding = try binding(interface, of: object, for: caller)
        let (index, property) = try findProperty(name, binding)
        // The first question is whether it can be written at all: a read-only property is read-only for
        // everybody.
        guard property.isWritable else {
            throw DBusError(.propertyReadOnly, "\(interface).\(name) can only be read.")
        }
        try authorizeWriting(property, binding, object, caller)
        var content: MessageReader
        do throws(DBusError) {
            content = try reader.variant(property.signature) { (reader) throws(DBusError) in reader }
        } catch {
            throw error.at("“\(name)”")
        }
        let call = MethodCall(message, from: caller)
        began(call)
        guard property.waits else {
            try binding.write(index, from: &content, call)
            return .done(try Message.reply(to: message))
        }
        return .waits {
            try await binding.writeWaiting(index, from: content, call)
            return try Message.reply(to: message)
        }
    }

    /// A property that the caller may read exists for it, even if writing it is hidden.
    private func authorizeWriting(
        _ property: InterfaceDescription.Property, _ binding: any InterfaceBinding, _ object: ExportedObject,
        _ caller: Caller
    ) throws {
        let interface = type(of: binding).description.name
        if case .hide = decide(caller, object, interface, property.name, property.writeAccess),
            case .allow = decide(caller, object, interface, property.name, property.access)
        {
            throw DBusError.accessDenied("\(interface).\(property.name) can only be read by this caller.")
        }
        try authorize(caller, object, interface, property.name, property.writeAccess)
    }

    /// Appends, as `a{sv}`, the properties of `binding` that `caller` may read.
    func writeProperties(
        of binding: any InterfaceBinding, of object: ExportedObject, for caller: Caller,
        to writer: inout MessageWriter
    ) throws(DBusError) {
        let description = type(of: binding).description
        try writer.dictionary("{sv}") { (writer) throws(DBusError) in
            // Most properties have one class, about which the policy has to be asked once.
            var latest: (access: AccessClass, mayRead: Bool)?
            for (index, property) in description.properties.enumerated() where property.isReadable {
                if latest?.access != property.access {
                    latest = (property.access, mayRead(index, of: description, of: object, caller))
                }
                if latest?.mayRead == true { try writeEntry(index, of: binding, to: &writer) }
            }
        }
    }

    /// Whether the property with the index `index` can be read, by `caller`.
    func mayRead(
        _ index: Int, of description: InterfaceDescription, of object: ExportedObject, _ caller: Caller
    ) -> Bool {
        guard description.properties[index].isReadable,
            case .allow = decide(
                caller, object, description.name, description.properties[index].name,
                description.properties[index].access)
        else { return false }
        return true
    }

    /// Appends the entry of an `a{sv}` for the property with the index `index`.
    func writeEntry(
        _ index: Int, of binding: any InterfaceBinding, to writer: inout MessageWriter
    ) throws(DBusError) {
        let description = type(of: binding).description
        try writer.entry { (writer) throws(DBusError) in
            try writer.write(description.properties[index].name)
            try writer.variant(holding: description.properties[index].signature) {
                (writer) throws(DBusError) in
                try binding.read(index, into: &writer)
            }
        }
    }
}
