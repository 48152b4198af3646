// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CWayland
internal import Glibc

/// What is used of libwayland-client. It is loaded when a Wayland display is looked for, and stays from then on.
///
/// `wl_proxy_marshal_array_flags` is in it since version 1.20.
final class WaylandLibrary: @unchecked Sendable {
    // @unchecked: functions and tables, none of which changes once this is made.

    let connect: handoff_wl_display_connect
    let disconnect: handoff_wl_display_disconnect
    let descriptor: handoff_wl_display_get_fd
    let prepareRead: handoff_wl_display_prepare_read
    let readEvents: handoff_wl_display_read_events
    let dispatchPending: handoff_wl_display_dispatch_pending
    let flush: handoff_wl_display_flush
    let error: handoff_wl_display_get_error
    let marshal: handoff_wl_proxy_marshal_array_flags
    let addDispatcher: handoff_wl_proxy_add_dispatcher
    let destroy: handoff_wl_proxy_destroy
    let version: handoff_wl_proxy_get_version

    /// `wl_callback`, `wl_registry` and `wl_seat`.
    let callback: UnsafePointer<wl_interface>
    let registry: UnsafePointer<wl_interface>
    let seat: UnsafePointer<wl_interface>

    /// The interfaces of data control, by either of its names.
    private let interfaces: [WaylandProtocol: [WaylandProtocol.Kind: UnsafePointer<wl_interface>]]

    /// Nil if the library is not installed, or too old.
    static let loaded = WaylandLibrary()

    private init?() {
        guard let library = dlopen("libwayland-client.so.0", RTLD_NOW | RTLD_LOCAL),
            let connect = dlsym(library, "wl_display_connect"),
            let disconnect = dlsym(library, "wl_display_disconnect"),
            let descriptor = dlsym(library, "wl_display_get_fd"),
            let prepareRead = dlsym(library, "wl_display_prepare_read"),
            let readEvents = dlsym(library, "wl_display_read_events"),
            let dispatchPending = dlsym(library, "wl_display_dispatch_pending"),
            let flush = dlsym(library, "wl_display_flush"),
            let error = dlsym(library, "wl_display_get_error"),
            let marshal = dlsym(library, "wl_proxy_marshal_array_flags"),
            let addDispatcher = dlsym(library, "wl_proxy_add_dispatcher"),
            let destroy = dlsym(library, "wl_proxy_destroy"),
            let version = dlsym(library, "wl_proxy_get_version"),
            let callback = dlsym(library, "wl_callback_interface"),
            let registry = dlsym(library, "wl_registry_interface"),
            let seat = dlsym(library, "wl_seat_interface")
        else { return nil }
        self.connect = unsafeBitCast(connect, to: handoff_wl_display_connect.self)
        self.disconnect = unsafeBitCast(disconnect, to: handoff_wl_display_disconnect.self)
        self.descriptor = unsafeBitCast(descriptor, to: handoff_wl_display_get_fd.self)
        self.prepareRead = unsafeBitCast(prepareRead, to: handoff_wl_display_prepare_read.self)
        self.readEvents = unsafeBitCast(readEvents, to: handoff_wl_display_read_events.self)
        self.dispatchPending = unsafeBitCast(dispatchPending, to: handoff_wl_display_dispatch_pending.self)
        self.flush = unsafeBitCast(flush, to: handoff_wl_display_flush.self)
        self.error = unsafeBitCast(error, to: handoff_wl_display_get_error.self)
        self.marshal = unsafeBitCast(marshal, to: handoff_wl_proxy_marshal_array_flags.self)
        self.addDispatcher = unsafeBitCast(addDispatcher, to: handoff_wl_proxy_add_dispatcher.self)
        self.destroy = unsafeBitCast(destroy, to: handoff_wl_proxy_destroy.self)
        self.version = unsafeBitCast(version, to: handoff_wl_proxy_get_version.self)
        self.callback = UnsafePointer(callback.assumingMemoryBound(to: wl_interface.self))
        self.registry = UnsafePointer(registry.assumingMemoryBound(to: wl_interface.self))
        let seats = UnsafePointer(seat.assumingMemoryBound(to: wl_interface.self))
        self.seat = seats
        interfaces = Dictionary(
            uniqueKeysWithValues: WaylandProtocol.allCases.map { ($0, Self.interfaces($0, seat: seats)) })
    }

    /// The interface of objects of this kind.
    func interface(_ kind: WaylandProtocol.Kind, of name: WaylandProtocol) -> UnsafePointer<wl_interface>? {
        interfaces[name]?[kind]
    }

    /// Describes the protocol as the library wants it, in memory that is never freed: the library keeps pointers into it.
    private static func interfaces(
        _ name: WaylandProtocol, seat: UnsafePointer<wl_interface>
    ) -> [WaylandProtocol.Kind: UnsafePointer<wl_interface>] {
        typealias Interface = UnsafeMutablePointer<wl_interface>
        let all = Dictionary(
            uniqueKeysWithValues: WaylandProtocol.Kind.allCases.map { ($0, Interface.allocate(capacity: 1)) })
        func described(_ object: WaylandProtocol.Object) -> UnsafePointer<wl_interface>? {
            switch object {
            case .none: nil
            case .of(let kind): all[kind].map { UnsafePointer($0) }
            case .seat: seat
            }
        }
        func described(_ messages: [WaylandProtocol.Message]) -> UnsafePointer<wl_message> {
            let first = UnsafeMutablePointer<wl_message>.allocate(capacity: max(1, messages.count))
            for (place, message) in messages.enumerated() {
                let types = UnsafeMutablePointer<UnsafePointer<wl_interface>?>.allocate(
                    capacity: max(1, message.objects.count))
                for (argument, object) in message.objects.enumerated() {
                    (types + argument).initialize(to: described(object))
                }
                (first + place).initialize(
                    to: wl_message(
                        name: strdup(message.name), signature: strdup(message.signature), types: types))
            }
            return UnsafePointer(first)
        }
        for (kind, interface) in all {
            let (requests, events) = WaylandProtocol.messages(of: kind)
            interface.initialize(
                to: wl_interface(
                    name: strdup(name.name(of: kind)), version: Int32(name.version),
                    method_count: Int32(requests.count), methods: described(requests),
                    event_count: Int32(events.count), events: described(events)))
        }
        return all.mapValues { UnsafePointer($0) }
    }
}
