// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// Signals of objects: what has changed, and to whom that is told.
extension ObjectTree {
    /// Emits `PropertiesChanged` with the present values of the properties `names`.
    package func propertiesChanged(
        _ path: ObjectPath, _ interface: InterfaceName, _ names: [String], tell audience: ChangeAudience
    ) {
        guard let object = objects[path], let binding = object.binding(interface.text), !names.isEmpty else {
            return
        }
        let single: BusName? =
            switch audience {
            case .only(let name), .subscribersAnd(let name): name
            case .subscribers: nil
            }
        let description = type(of: binding).description
        let changed = names.compactMap { description.property(named: $0) }
        var former: (properties: [Int], signal: Message)?
        // Whoever may read the same is told the same, which is written once.
        func tell(_ changed: [Int], _ name: BusName) {
            if former?.properties != changed {
                former = changes(of: changed, binding, object).map { (changed, $0) }
            }
            if former?.properties == changed { post(former?.signal.copy(), to: name) }
        }
        if let single { tell(changed, single) }
        if case .only = audience { return }
        for (name, caller) in subscribers(of: interface, at: path) where name != single {
            let readable = changed.filter { mayRead($0, of: description, of: object, caller) }
            if !readable.isEmpty { tell(readable, name) }
        }
    }

    private func changes(
        of changed: [Int], _ binding: any InterfaceBinding, _ object: ExportedObject
    ) -> Message? {
        let description = type(of: binding).description
        guard let signal = try? Message.signal(from: object.path, .properties, "PropertiesChanged") else {
            return nil
        }
        var writer = MessageWriter(signal)
        do throws(DBusError) {
            try writer.write(description.name.text)
            try writer.dictionary("{sv}") { (writer) throws(DBusError) in
                for index in changed { try writeEntry(index, of: binding, to: &writer) }
            }
            try writer.write([String]())
            return signal
        } catch {
            return nil
        }
    }

    /// Emits a signal of the object at `path` to the unsandboxed connections that called `GetManagedObjects`; `make` is
    /// called for each of them.
    package func tellSubscribers(of path: ObjectPath, _ make: () throws(DBusError) -> Message) {
        for name in subscribers(above: path).keys { post(try? make(), to: name) }
    }

    func post(_ signal: Message?, to name: BusName) {
        guard let signal else { return }
        guard (try? signal.setDestination(name)) != nil else { return }
        connection?.post(signal)
    }
}
