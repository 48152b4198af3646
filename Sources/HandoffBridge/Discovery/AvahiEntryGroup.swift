// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop

/// Records that Avahi publishes together, until this is freed.
@MainLoop
final class AvahiEntryGroup {
    static let interface: InterfaceName = "org.freedesktop.Avahi.EntryGroup"

    /// What can happen to a group after it was committed.
    enum Event: Sendable {
        /// Everybody on the network can see it.
        case established
        /// Somebody has the same name.
        case collision
        /// Avahi has failed.
        case failure(String)
    }

    /// A service that a host offers.
    struct Service {
        let interface: Int32
        let name: String
        let host: String
        let port: UInt16
        let text: [[UInt8]]
    }

    /// `AVAHI_PUBLISH_NO_REVERSE`: the address belongs to the machine's own name.
    private static let noReverse: UInt32 = 16
    /// `AvahiEntryGroupState`
    private static let (established, collision, failure): (Int32, Int32, Int32) = (2, 3, 4)

    private let avahi: Avahi
    private let owner: BusName
    private let path: ObjectPath

    /// An empty group. `body` is told of what happens to it.
    init(_ avahi: Avahi, _ body: @escaping @MainLoop (Event) -> Void) async throws {
        self.avahi = avahi
        (owner, path) = try await avahi.create(Avahi.server, "EntryGroupNew") { _ in }
        avahi.setHandler(path) { signal in
            if let event = Self.event(signal) { body(event) }
        }
    }

    isolated deinit {
        avahi.setHandler(path, nil)
        avahi.post(owner, path, Self.interface, "Free")
    }

    private static func event(_ signal: Message) -> Event? {
        var reader = MessageReader(signal)
        guard signal.member == "StateChanged", let state: Int32 = try? reader.read() else { return nil }
        switch state {
        case established: return .established
        case collision: return .collision
        case failure: return .failure((try? reader.read(String.self)) ?? "no reason given")
        default: return nil
        }
    }

    /// Adds an address of `host`, which is a name of its own and not the machine's.
    func add(_ address: String, of host: String, on index: Int32) async throws {
        _ = try await avahi.call(path, Self.interface, "AddAddress") { (writer) throws(DBusError) in
            try Self.write(index, Self.noReverse, &writer)
            try writer.write(host)
            try writer.write(address)
        }
    }

    /// Adds a service.
    func add(_ service: Service) async throws {
        _ = try await avahi.call(path, Self.interface, "AddService") { (writer) throws(DBusError) in
            try Self.write(service.interface, 0, &writer)
            for text in [service.name, Announcement.serviceType, "local", service.host] {
                try writer.write(text)
            }
            try writer.write(service.port)
            try writer.write(service.text)
        }
    }

    /// Replaces the text that was published for `service` with the one that it has now.
    func update(_ service: Service) async throws {
        _ = try await avahi.call(path, Self.interface, "UpdateServiceTxt") { (writer) throws(DBusError) in
            try Self.write(service.interface, 0, &writer)
            for text in [service.name, Announcement.serviceType, "local"] { try writer.write(text) }
            try writer.write(service.text)
        }
    }

    /// Publishes what was added.
    func commit() async throws { _ = try await avahi.call(path, Self.interface, "Commit") { _ in } }

    private static func write(
        _ index: Int32, _ flags: UInt32, _ writer: inout MessageWriter
    ) throws(DBusError) {
        try writer.write(index)
        try writer.write(Avahi.any)
        try writer.write(flags)
    }
}
