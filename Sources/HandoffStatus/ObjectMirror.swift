// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import MainLoop

/// What one daemon shows: the objects below its root, and the properties of the root itself, as its signals change them.
@MainLoop
final class ObjectMirror {
    /// The objects, by their paths.
    private(set) var objects: ManagedObjects = [:]
    /// The properties of the root, by their interfaces.
    private(set) var root: [String: [String: Value]] = [:]

    private let daemon: Daemon
    private let rootPath: ObjectPath
    private let interfaces: [InterfaceName]
    private let changed: @MainLoop () -> Void
    private var tokens: [SignalToken] = []
    /// The signals that came before it was known which objects there are; nil from then on.
    private var early: [Message]? = []

    /// Of a daemon that begins to tell of everything, one cannot be waited for without end.
    private static let timeout = Duration.seconds(5)
    /// More signals than this, before it has said what there is, are not meant for us.
    private static let maximumEarly = 1024

    /// Mirrors what `daemon` shows below `rootPath`, and the properties of these `interfaces` there. `changed` is called for
    /// each change once ``begin()`` has returned.
    init(
        _ daemon: Daemon, _ rootPath: ObjectPath, _ interfaces: [InterfaceName],
        changed: @escaping @MainLoop () -> Void
    ) {
        self.daemon = daemon
        self.rootPath = rootPath
        self.interfaces = interfaces
        self.changed = changed
        for interface in [InterfaceName.objectManager, .properties] {
            tokens.append(
                daemon.bus.connection.onSignal(interface) { [weak self] signal in self?.received(signal) })
        }
    }

    /// Asks for what there is.
    func begin() async throws {
        objects = try await daemon.managedObjects(rootPath, Self.timeout)
        for interface in interfaces {
            root[interface.text] = try await daemon.properties(interface, rootPath, timeout: Self.timeout)
        }
        let waiting = early ?? []
        early = nil
        for signal in waiting { apply(signal) }
    }

    private func received(_ signal: Message) {
        guard signal.sender == daemon.name else { return }
        if let early {
            if early.count < Self.maximumEarly { self.early?.append(signal) }
        } else if apply(signal) {
            changed()
        }
    }

    /// Takes over what `signal` says; a signal of another form is not meant for us.
    /// - Returns: whether it changes anything.
    @discardableResult
    private func apply(_ signal: Message) -> Bool {
        var reader = MessageReader(signal)
        do throws(DBusError) {
            switch signal.member {
            case "InterfacesAdded": return try added(&reader)
            case "InterfacesRemoved": return try removed(&reader)
            case "PropertiesChanged": return try changed(signal, &reader)
            default: return false
            }
        } catch {
            return false
        }
    }

    private func added(_ reader: inout MessageReader) throws(DBusError) -> Bool {
        let path: ObjectPath = try reader.read()
        let interfaces: [String: [String: Value]] = try reader.read()
        objects[path, default: [:]].merge(interfaces) { $1 }
        return true
    }

    private func removed(_ reader: inout MessageReader) throws(DBusError) -> Bool {
        let path: ObjectPath = try reader.read()
        let interfaces: [String] = try reader.read()
        guard var left = objects[path] else { return false }
        for interface in interfaces { left[interface] = nil }
        objects[path] = left.isEmpty ? nil : left
        return true
    }

    private func changed(_ signal: Message, _ reader: inout MessageReader) throws(DBusError) -> Bool {
        let interface: String = try reader.read()
        let properties: [String: Value] = try reader.read()
        let invalidated: [String] = try reader.read()
        guard let path = signal.path else { return false }
        if path == rootPath {
            guard root[interface] != nil else { return false }
            root[interface]?.merge(properties) { $1 }
            for name in invalidated { root[interface]?[name] = nil }
            return true
        }
        guard objects[path]?[interface] != nil else { return false }
        objects[path]?[interface]?.merge(properties) { $1 }
        for name in invalidated { objects[path]?[interface]?[name] = nil }
        return true
    }
}
