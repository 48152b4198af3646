// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus
internal import MainLoop
internal import Platform

/// A connection of libdbus, driven by the main loop.
@MainLoop
final class BusChannel: MessageChannel {
    private let raw: OpaquePointer
    private var watches: [OpaquePointer: DescriptorSource] = [:]
    /// Whether nothing is read until the bus has taken what waits to be sent.
    private var isHeldBack = false
    private var isPumpScheduled = false
    private var isPumping = false
    /// The number of the last message that was sent.
    private var serial = BusOpening.serialOfHello
    private let log = Log(domain: "dbus")
    /// The connection that is handed what arrives.
    weak var connection: Connection?
    /// The directory that knows who sent a message.
    weak var callers: CallerDirectory?

    /// Takes over `raw`, a private connection that is open.
    init(owning raw: OpaquePointer) {
        self.raw = raw
        dbus_connection_set_exit_on_disconnect(raw, 0)
    }

    isolated deinit {
        watches = [:]
        _ = dbus_connection_set_watch_functions(raw, nil, nil, nil, nil, nil)
        dbus_connection_set_dispatch_status_function(raw, nil, nil, nil)
        dbus_connection_close(raw)
        dbus_connection_unref(raw)
        // Whoever still waits for a reply would wait until it times out.
        connection?.closed(DBusError(.disconnected, "The connection to the bus has been given up."))
    }

    /// Begins to watch the socket. Separate from `init`, since libdbus calls back at once.
    func begin() throws(DBusError) {
        let this = Unmanaged.passUnretained(self).toOpaque()
        let done = dbus_connection_set_watch_functions(
            raw,
            { watch, data in
                BusChannel.with(data) { channel in if let watch { channel.update(watch) } }
                return 1
            },
            { watch, data in BusChannel.with(data) { channel in if let watch { channel.remove(watch) } } },
            { watch, data in BusChannel.with(data) { channel in if let watch { channel.update(watch) } } },
            this, nil)
        guard done != 0 else { throw .noMemory() }
        dbus_connection_set_dispatch_status_function(
            raw,
            { _, status, data in
                if status == DBUS_DISPATCH_DATA_REMAINS { BusChannel.with(data) { $0.schedulePump() } }
            }, this, nil)
        schedulePump()
    }

    /// For callbacks from libdbus, which come on the loop's thread while one of its functions runs.
    private nonisolated static func with(
        _ data: UnsafeMutableRawPointer?, _ body: @MainLoop (BusChannel) -> Void
    ) {
        guard let data else { return }
        let channel = Unmanaged<BusChannel>.fromOpaque(data).takeUnretainedValue()
        MainLoop.assumeIsolated { body(channel) }
    }

    // MARK: Watches

    private func update(_ watch: OpaquePointer) {
        watches[watch]?.cancel()
        watches[watch] = nil
        guard dbus_watch_get_enabled(watch) != 0 else { return }
        let flags = dbus_watch_get_flags(watch)
        var condition: IOCondition = []
        if flags & DBUS_WATCH_READABLE.rawValue != 0, !isHeldBack { condition.insert(.readable) }
        if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { condition.insert(.writable) }
        watches[watch] = DescriptorSource(dbus_watch_get_unix_fd(watch), condition) { [weak self] ready in
            self?.handle(watch, ready)
        }
    }

    private func remove(_ watch: OpaquePointer) { watches.removeValue(forKey: watch)?.cancel() }

    /// How many jobs may be waiting at most when more is read. What others send faster than it is processed stays
    /// with the bus.
    private static let maximumBacklog = 64
    /// How many jobs may be waiting at most when one more message is taken from what was read. Each may be a call whose answer
    /// has megabytes.
    private static let maximumBegun = 4
    /// How many bytes may wait to be sent when more is read: the answers to whoever calls without reading stay unmade.
    private static let maximumUnsent = 4 << 20

    private func handle(_ watch: OpaquePointer, _ ready: IOCondition) {
        var flags: UInt32 = 0
        if ready.contains(.readable), MainLoop.waitingJobs <= Self.maximumBacklog {
            flags |= DBUS_WATCH_READABLE.rawValue
        }
        if ready.contains(.writable) { flags |= DBUS_WATCH_WRITABLE.rawValue }
        if ready.contains(.failed) { flags |= DBUS_WATCH_ERROR.rawValue }
        if ready.contains(.hungUp) { flags |= DBUS_WATCH_HANGUP.rawValue }
        // If there were no descriptor left for one that comes with a message, libdbus would end the
        // connection.
        if flags != 0 { DescriptorLimit.withReserve { _ = dbus_watch_handle(watch, flags) } }
        pump()
    }

    /// Reads on, or no more, depending on what waits to be sent.
    private func checkUnsent() {
        let isTooMuch = dbus_connection_get_outgoing_size(raw) > Self.maximumUnsent
        guard isTooMuch != isHeldBack else { return }
        isHeldBack = isTooMuch
        for watch in Array(watches.keys) { update(watch) }
    }

    // MARK: Receiving

    /// libdbus has messages without the socket being readable, e.g. after a blocking call.
    private func schedulePump() {
        if !isPumping { pumpLater() }
    }

    private func pump() {
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        checkUnsent()
        while !isHeldBack, let message = dbus_connection_pop_message(raw) {
            received(message)
            dbus_message_unref(message)
            checkUnsent()
            // At least one has been taken: nobody else's jobs keep the bus from having its turn.
            if MainLoop.waitingJobs >= Self.maximumBegun {
                if dbus_connection_get_dispatch_status(raw) == DBUS_DISPATCH_DATA_REMAINS { pumpLater() }
                return
            }
        }
    }

    /// Goes on when the jobs that wait now have had their turn.
    private func pumpLater() {
        guard !isPumpScheduled else { return }
        isPumpScheduled = true
        MainLoop.start { [weak self] in
            self?.isPumpScheduled = false
            self?.pump()
        }
    }

    private func received(_ message: OpaquePointer) {
        if dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_SIGNAL,
            dbus_message_is_signal(message, DBUS_INTERFACE_LOCAL, "Disconnected") != 0
        {
            watches = [:]
            connection?.closed(DBusError(.disconnected, "The bus has closed the connection."))
            return
        }
        do throws(DBusError) {
            connection?.received(try BusMessage.received(message))
        } catch {
            log.debug("A message from the bus is dropped: \(error.message)")
            refuse(message, error)
        }
    }

    /// Answers a call that cannot be read, so that nobody waits for it.
    private func refuse(_ message: OpaquePointer, _ error: DBusError) {
        guard dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_METHOD_CALL,
            dbus_message_get_no_reply(message) == 0,
            let answer = dbus_message_new_error(message, DBUS_ERROR_INVALID_ARGS, error.message)
        else { return }
        dbus_connection_send(raw, answer, nil)
        dbus_message_unref(answer)
    }

    // MARK: MessageChannel

    func send(_ message: Message) throws(DBusError) -> UInt32 {
        guard dbus_connection_get_is_connected(raw) != 0 else {
            throw DBusError(.disconnected, "The bus has closed the connection.")
        }
        // Above are the numbers of what does not go by the bus.
        serial = serial == AttachedSocket.firstSerial - 1 ? BusOpening.serialOfHello : serial + 1
        message.setSerial(serial)
        let sent = try BusMessage.made(of: message)
        defer { dbus_message_unref(sent) }
        guard dbus_connection_send(raw, sent, nil) != 0 else { throw .noMemory() }
        // This may have sent what was too much, and then no event of the socket says so.
        if isHeldBack { pumpLater() }
        return serial
    }

    func identify(senderOf message: Message, _ body: @escaping @MainLoop (Caller) -> Void) {
        guard let sender = message.sender, let callers else { return }
        if callers.identify(sender, size: message.marshalledSize, body) || !message.wantsReply { return }
        let error = DBusError.limitsExceeded("Too many calls wait until the bus has told who \(sender) is.")
        if let answer = try? Message.error(error, to: message) { connection?.post(answer) }
    }

    /// Sends what is queued before it returns, for example before the process ends.
    func flush() { dbus_connection_flush(raw) }

    /// Leaves the bus.
    func close() { dbus_connection_close(raw) }
}
