// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import CWayland
internal import DBus
internal import Glibc

/// A connection with a Wayland display that gives the clipboard to programs without a window.
///
/// Everything that may wait for the display happens when it is made. Afterwards what has arrived is taken, and what is asked
/// for is sent.
final class WaylandConnection: @unchecked Sendable {
    // @unchecked: it is used by one thread after another, the one that makes it and then the main loop's.

    /// The descriptor that is readable when something has arrived.
    let descriptor: Int32

    private let library: WaylandLibrary
    private let display: OpaquePointer
    private var registry: OpaquePointer?
    /// Tells that all was done that has been asked for before.
    private var callback: OpaquePointer?
    private var manager: OpaquePointer?
    private var seat: OpaquePointer?
    private var device: OpaquePointer?
    private var source: (proxy: OpaquePointer, number: UInt64)?
    /// The offers that are known.
    private var offers: [OpaquePointer: WaylandOffer] = [:]
    /// Those of them that nothing was said of yet, in the order in which they came.
    private var announced: [OpaquePointer] = []
    /// The one that is in the clipboard.
    private var selected: OpaquePointer?
    private var isSelectionKnown = false
    private var hasEnded = false
    private var events: [Event] = []
    /// What the display has that is needed: the number of the first seat, and of each manager with its version.
    private var seatNumber: UInt32?
    private var managers: [WaylandProtocol: (number: UInt32, version: UInt32)] = [:]

    /// How long the display may take to say what it has.
    private static let patience = Duration.seconds(5)
    /// How many offers may be announced before anything is said of them. A compositor says it at once.
    private static let maximumAnnounced = 8

    /// What has happened.
    enum Event {
        /// This is in the clipboard; nil if nothing is.
        case selected(WaylandOffer?)
        /// What is owned is asked for.
        case asked(WaylandRequest)
        /// The source with this number is in the clipboard no more.
        case cancelled(UInt64)
    }

    /// Connects with the display that the environment names, and waits for what it has in the clipboard. This blocks as long as
    /// the display takes no connection, and then for a few seconds at most.
    ///
    /// Nil if there is none, if it does not answer, or if it gives nobody the clipboard.
    init?() {
        guard let library = WaylandLibrary.loaded, let display = library.connect(nil) else { return nil }
        (self.library, self.display) = (library, display)
        descriptor = library.descriptor(display)
        guard begin() else { return nil }
    }

    deinit {
        let proxies =
            Array(offers.keys)
            + [source?.proxy, device, seat, manager, callback, registry]
            .compactMap { $0 }
        for proxy in proxies { library.destroy(proxy) }
        // The display forgets what it has had of us.
        library.disconnect(display)
    }

    // MARK: Beginning

    private func begin() -> Bool {
        let end = ContinuousClock.now + Self.patience
        registry = make(
            library.registry, by: display, WaylandProtocol.DisplayRequest.getRegistry, [wl_argument()])
        guard registry != nil, isAnswered(until: end), let seatNumber else { return false }
        for name in WaylandProtocol.allCases {
            guard let (number, version) = managers[name] else { continue }
            manager = bind(
                number, library.interface(.manager, of: name), version: min(version, name.version))
            seat = bind(seatNumber, library.seat, version: 1)
            guard let manager, let seat else { return false }
            self.name = name
            device = make(
                library.interface(.device, of: name), by: manager,
                WaylandProtocol.ManagerRequest.getDataDevice, [wl_argument(), wl_argument(o: seat)])
            guard device != nil, isAnswered(until: end), !isBroken else { return false }
            if !isSelectionKnown { events.append(.selected(nil)) }
            return true
        }
        return false
    }

    /// Under which name the display has it.
    private var name = WaylandProtocol.ext

    /// Waits until the display has answered everything that was asked by now.
    private func isAnswered(until end: ContinuousClock.Instant) -> Bool {
        callback = make(library.callback, by: display, WaylandProtocol.DisplayRequest.sync, [wl_argument()])
        guard callback != nil else { return false }
        while callback != nil {
            let (seconds, attoseconds) = ContinuousClock.now.duration(to: end).components
            let left = seconds * 1000 + attoseconds / 1_000_000_000_000_000
            guard left > 0 else { return false }
            let condition = flush() ? POLLIN : POLLIN | POLLOUT
            var one = pollfd(fd: descriptor, events: Int16(condition), revents: 0)
            let count = poll(&one, 1, Int32(clamping: left))
            if count < 0, errno == EINTR { continue }
            guard count > 0, receive() else { return false }
        }
        return true
    }

    // MARK: Asking

    /// Whether the display is gone, or gives nobody the clipboard any more.
    var isBroken: Bool { hasEnded || library.error(display) != 0 }

    /// Sends what was asked for.
    /// - Returns: whether nothing is left to be sent once the descriptor is writable.
    func flush() -> Bool { library.flush(display) >= 0 || errno != EAGAIN }

    /// What is in the clipboard; nil if nothing is.
    var selection: WaylandOffer? { selected.flatMap { offers[$0] } }

    /// Asks for what is in the clipboard as `type`.
    /// - Returns: the descriptor to read it from; nil if nothing is there, or there is no descriptor left.
    func ask(_ type: String) -> FileDescriptor? {
        guard let selected else { return nil }
        var ends: [Int32] = [-1, -1]
        guard handoff_pipe(&ends, O_CLOEXEC) == 0 else { return nil }
        type.withCString {
            let arguments = [wl_argument(s: $0), wl_argument(h: ends[1])]
            send(selected, WaylandProtocol.OfferRequest.receive, arguments)
        }
        // The library has a duplicate until it is sent.
        close(ends[1])
        return FileDescriptor(owning: ends[0])
    }

    /// Puts a source with this number into the clipboard, which can be had as each of `types`.
    func own(_ types: [String], _ number: UInt64) {
        guard let manager, let device,
            let new = make(
                library.interface(.source, of: name), by: manager,
                WaylandProtocol.ManagerRequest.createDataSource, [wl_argument()])
        else { return }
        for type in types {
            type.withCString { send(new, WaylandProtocol.SourceRequest.offer, [wl_argument(s: $0)]) }
        }
        send(device, WaylandProtocol.DeviceRequest.setSelection, [wl_argument(o: new)])
        destroySource()
        source = (new, number)
    }

    /// Puts nothing into the clipboard, if it has a source of ours.
    func disown() {
        guard source != nil, let device else { return }
        send(device, WaylandProtocol.DeviceRequest.setSelection, [wl_argument(o: nil)])
        destroySource()
    }

    private func destroySource() {
        if let source { send(source.proxy, WaylandProtocol.SourceRequest.destroy, isLast: true) }
        source = nil
    }

    private func destroyOffer(_ offer: OpaquePointer) {
        guard offers.removeValue(forKey: offer) != nil else { return }
        announced.removeAll { $0 == offer }
        if selected == offer { selected = nil }
        send(offer, WaylandProtocol.OfferRequest.destroy, isLast: true)
    }

    /// Sends a request of `proxy`; with `isLast`, its object is no more then.
    private func send(
        _ proxy: OpaquePointer, _ request: some RawRepresentable<UInt32>, _ arguments: [wl_argument] = [],
        isLast: Bool = false
    ) {
        marshal(
            proxy, request.rawValue, nil, library.version(proxy), isLast ? HANDOFF_WAYLAND_DESTROY : 0,
            arguments)
    }

    /// Sends a request of `proxy` that makes an object, whose events are then received.
    private func make(
        _ interface: UnsafePointer<wl_interface>?, by proxy: OpaquePointer,
        _ request: some RawRepresentable<UInt32>, _ arguments: [wl_argument]
    ) -> OpaquePointer? {
        let new = marshal(proxy, request.rawValue, interface, library.version(proxy), 0, arguments)
        if let new { follow(new) }
        return new
    }

    private func bind(
        _ number: UInt32, _ interface: UnsafePointer<wl_interface>?, version: UInt32
    ) -> OpaquePointer? {
        guard let registry, let interface else { return nil }
        return marshal(
            registry, WaylandProtocol.RegistryRequest.bind.rawValue, interface, version, 0,
            [
                wl_argument(u: number), wl_argument(s: interface.pointee.name), wl_argument(u: version),
                wl_argument(),
            ])
    }

    @discardableResult
    private func marshal(
        _ proxy: OpaquePointer, _ request: UInt32, _ interface: UnsafePointer<wl_interface>?,
        _ version: UInt32, _ flags: UInt32, _ arguments: [wl_argument]
    ) -> OpaquePointer? {
        var arguments = arguments
        return library.marshal(proxy, request, interface, version, flags, &arguments)
    }

    // MARK: Receiving

    /// What has arrived since the last time, without waiting for more.
    func takeEvents() -> [Event] {
        if !receive() { hasEnded = true }
        defer { events = [] }
        return events
    }

    /// Reads what has arrived, and has each event received. Nobody else is called meanwhile: the display could be disconnected
    /// then.
    /// - Returns: whether the display is there.
    private func receive() -> Bool {
        while library.prepareRead(display) != 0 {
            guard library.dispatchPending(display) >= 0 else { return false }
        }
        // This does not block.
        guard library.readEvents(display) >= 0 else { return false }
        return library.dispatchPending(display) >= 0
    }

    private func follow(_ proxy: OpaquePointer) {
        let function: handoff_wl_dispatcher = { implementation, target, event, _, arguments in
            guard let implementation, let target, let arguments else { return 0 }
            Unmanaged<WaylandConnection>.fromOpaque(implementation).takeUnretainedValue()
                .received(event, by: OpaquePointer(target), arguments)
            return 0
        }
        // Not retained: the proxy is destroyed before this is freed.
        _ = library.addDispatcher(proxy, function, Unmanaged.passUnretained(self).toOpaque(), nil)
    }

    private func received(
        _ event: UInt32, by proxy: OpaquePointer, _ arguments: UnsafeMutablePointer<wl_argument>
    ) {
        if proxy == registry {
            if WaylandProtocol.RegistryEvent(rawValue: event) == .global { global(arguments) }
        } else if proxy == callback {
            callback = nil
            library.destroy(proxy)
        } else if proxy == device {
            device(WaylandProtocol.DeviceEvent(rawValue: event), arguments)
        } else if let source, proxy == source.proxy {
            switch WaylandProtocol.SourceEvent(rawValue: event) {
            case .send:
                // The descriptor is ours, whatever the type is.
                let type = Self.string(arguments[0]) ?? ""
                events.append(.asked(WaylandRequest(type, of: source.number, owning: arguments[1].h)))
            case .cancelled:
                destroySource()
                events.append(.cancelled(source.number))
            case nil: break
            }
        } else if let type = Self.string(arguments[0]) {
            offers[proxy]?.add(type)
        }
    }

    private func global(_ arguments: UnsafeMutablePointer<wl_argument>) {
        guard let interface = Self.string(arguments[1]) else { return }
        let (number, version) = (arguments[0].u, arguments[2].u)
        if interface == "wl_seat", seatNumber == nil { seatNumber = number }
        for name in WaylandProtocol.allCases where interface == name.name(of: .manager) {
            managers[name] = (number, version)
        }
    }

    private func device(
        _ event: WaylandProtocol.DeviceEvent?, _ arguments: UnsafeMutablePointer<wl_argument>
    ) {
        switch event {
        case .dataOffer:
            guard let offer = arguments[0].o else { return }
            if announced.count == Self.maximumAnnounced { destroyOffer(announced[0]) }
            offers[offer] = WaylandOffer()
            announced.append(offer)
            follow(offer)
        case .selection:
            let offer: OpaquePointer? = arguments[0].o
            if let selected, selected != offer { destroyOffer(selected) }
            selected = offer.flatMap { offers[$0] == nil ? nil : $0 }
            announced.removeAll { $0 == selected }
            isSelectionKnown = true
            events.append(.selected(selection))
        case .primarySelection:
            if let offer = arguments[0].o, offer != selected { destroyOffer(offer) }
        case .finished: hasEnded = true
        case nil: break
        }
    }

    /// The text of an argument; nil if it has none, or is not UTF-8.
    private static func string(_ argument: wl_argument) -> String? {
        argument.s.flatMap { String(validatingCString: $0) }
    }
}
