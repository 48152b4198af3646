// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop

/// Looks for services of Handoff's type on all networks, until this is freed.
@MainLoop
final class AvahiBrowser {
    static let interface: InterfaceName = "org.freedesktop.Avahi.ServiceBrowser"
    /// How long looking something up may take, which Avahi ends after 5 s itself.
    private static let resolveTimeout = Duration.seconds(10)

    /// A service as it is seen by one protocol on one network.
    struct Service: Hashable, Sendable {
        /// The index of the network interface.
        let interface: Int32
        /// `AVAHI_PROTO_INET` or `AVAHI_PROTO_INET6`.
        let family: Int32
        /// The name of the instance.
        let name: String
    }

    /// What happens to services.
    enum Event {
        case appeared(Service)
        case vanished(Service)
        /// Avahi has reported everything that it knew.
        case completed
        /// Avahi will report nothing more.
        case failed(String)
    }

    /// Where a service is, and what it says about itself.
    struct Resolved {
        let address: String
        let port: UInt16
        let text: [[UInt8]]
    }

    private let avahi: Avahi
    private let owner: BusName
    private let path: ObjectPath

    /// Begins to look. `body` is told what there is and what changes.
    init(_ avahi: Avahi, _ body: @escaping @MainLoop (Event) -> Void) async throws {
        self.avahi = avahi
        (owner, path) = try await avahi.create(Avahi.server2, "ServiceBrowserPrepare") {
            (writer) throws(DBusError) in
            try writer.write(Avahi.any)
            try writer.write(Avahi.any)
            try writer.write(Announcement.serviceType)
            try writer.write("local")
            try writer.write(UInt32(0))
        }
        avahi.setHandler(path) { signal in
            if let event = Self.event(signal) { body(event) }
        }
        _ = try await avahi.call(path, Self.interface, "Start") { _ in }
    }

    isolated deinit {
        avahi.setHandler(path, nil)
        avahi.post(owner, path, Self.interface, "Free")
    }

    private static func event(_ signal: Message) -> Event? {
        var reader = MessageReader(signal)
        switch signal.member {
        case "ItemNew": return service(&reader).map { .appeared($0) }
        case "ItemRemove": return service(&reader).map { .vanished($0) }
        case "AllForNow": return .completed
        case "Failure": return .failed((try? reader.read(String.self)) ?? "no reason given")
        default: return nil
        }
    }

    private static func service(_ reader: inout MessageReader) -> Service? {
        guard let interface: Int32 = try? reader.read(), let family: Int32 = try? reader.read(),
            let name: String = try? reader.read(), interface > 0
        else { return nil }
        return Service(interface: interface, family: family, name: name)
    }

    /// Looks up where `service` is: an address of the protocol over which it is seen.
    func resolve(_ service: Service) async throws -> Resolved {
        var answer = try await avahi.call(
            Avahi.root, Avahi.server, "ResolveService", output: "iissssisqaayu", timeout: Self.resolveTimeout
        ) { (writer) throws(DBusError) in
            try writer.write(service.interface)
            try writer.write(service.family)
            try writer.write(service.name)
            try writer.write(Announcement.serviceType)
            try writer.write("local")
            try writer.write(service.family)
            try writer.write(UInt32(0))
        }
        for _ in 0..<2 { _ = try answer.next(Int32.self) }
        for _ in 0..<4 { _ = try answer.next(String.self) }
        _ = try answer.next(Int32.self)
        let address: String = try answer.next()
        return Resolved(address: address, port: try answer.next(), text: try answer.next())
    }
}
