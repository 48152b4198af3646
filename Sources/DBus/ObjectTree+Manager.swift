// SPDX-License-Identifier: LGPL-2.1-or-later

/// `org.freedesktop.DBus.ObjectManager`, with unicast signals: a broadcast would pass through the filters of
/// sandboxes.
extension ObjectTree {
    /// Who is told of what happens to `path`, which may be an object manager itself.
    func subscribers(above path: ObjectPath) -> [BusName: Caller] {
        var result: [BusName: Caller] = [:]
        for (manager, callers) in managers where path == manager || path.isBelow(manager) {
            result.merge(callers) { first, _ in first }
        }
        return result
    }

    func managedObjects(_ message: Message, _ manager: ObjectPath, for caller: Caller) throws -> Message {
        let reply = try Message.reply(to: message)
        var writer = MessageWriter(reply)
        let listed = objects.values.filter {
            $0.isListed && $0.path.isBelow(manager) && isUsable($0, by: caller)
        }
        try writer.dictionary("{oa{sa{sv}}}") { (writer) throws(DBusError) in
            for object in listed.sorted(by: { $0.path < $1.path }) {
                try writer.entry { (writer) throws(DBusError) in
                    try writer.write(object.path)
                    try writeInterfaces(of: object, for: caller, to: &writer)
                }
            }
        }
        if let name = caller.name, caller.sandbox == nil {
            managers[manager]?[name] = caller
            connection?.observer?.subscribed(name)
        }
        return reply
    }

    /// Appends, as `a{sa{sv}}`, the interfaces of `object` that `caller` may use.
    private func writeInterfaces(
        of object: ExportedObject, for caller: Caller, to writer: inout MessageWriter
    ) throws(DBusError) {
        try writer.dictionary("{sa{sv}}") { (writer) throws(DBusError) in
            for binding in object.interfaces where isUsable(binding, of: object, by: caller) {
                try writer.entry { (writer) throws(DBusError) in
                    try writer.write(type(of: binding).description.name.text)
                    try writeProperties(of: binding, of: object, for: caller, to: &writer)
                }
            }
        }
    }

    func tellAdded(_ object: ExportedObject) {
        tell(object, "InterfacesAdded") { (caller, writer) throws(DBusError) in
            try writeInterfaces(of: object, for: caller, to: &writer)
        }
    }

    func tellRemoved(_ object: ExportedObject) {
        tell(object, "InterfacesRemoved") { (caller, writer) throws(DBusError) in
            let known = object.interfaces.filter { isUsable($0, of: object, by: caller) }
            try writer.write(known.map { type(of: $0).description.name.text })
        }
    }

    /// Tells those who know `object` of it by the signal `name`, into which `body` writes what such a caller may know.
    private func tell(
        _ object: ExportedObject, _ name: MemberName,
        _ body: (Caller, inout MessageWriter) throws(DBusError) -> Void
    ) {
        for (manager, callers) in managers where object.path.isBelow(manager) {
            for (receiver, caller) in callers where isUsable(object, by: caller) {
                guard let signal = try? Message.signal(from: manager, .objectManager, name) else { continue }
                var writer = MessageWriter(signal)
                do throws(DBusError) {
                    try writer.write(object.path)
                    try body(caller, &writer)
                    post(signal, to: receiver)
                } catch { continue }
            }
        }
    }
}
