// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus
package import MainLoop
internal import Platform

/// A connection to a message bus: names, name watches, match rules and caller credentials around a
/// ``Connection``.
@MainLoop
package final class Bus {
    /// Which bus to connect to.
    package enum Address: Sendable {
        /// The session bus of the environment.
        case session
        /// The system bus.
        case system
        /// A server address, e.g. `unix:path=/run/user/1000/bus`.
        case address(String)
        /// A bus within this process.
        case memory(MemoryBus)
    }

    /// The connection that carries calls, signals and objects.
    package let connection: Connection
    /// Our own unique name.
    package let uniqueName: BusName
    /// Called when a connection that has called us has left the bus.
    package var onVanished: (@MainLoop (BusName) -> Void)? {
        get { callers.onVanished }
        set { callers.onVanished = newValue }
    }
    /// Called when a name of ours has been taken by another connection.
    package var onNameLost: (@MainLoop (BusName) -> Void)?

    private let channel: any BusChannel
    private lazy var callers = CallerDirectory(self)
    private var tokens: [SignalToken] = []
    private var watches: [BusName: [Int: Watcher]] = [:]
    private var nextWatch = 0

    isolated deinit {
        channel.close()
        // Whoever still waits for a reply would wait until it times out.
        connection.closed(DBusError(.disconnected, "The connection to the bus has been given up."))
    }

    private struct Watcher {
        let body: @MainLoop (BusName?) -> Void
        var isTold = false
    }

    nonisolated static let name: BusName = "org.freedesktop.DBus"

    /// Connects and says hello, which blocks: this is meant for the start of a program.
    /// - Throws: what libdbus says if there is no such bus.
    package convenience init(_ address: Address) throws(DBusError) {
        if case .memory(let bus) = address {
            self.init(bus.newEnd(in: nil))
        } else {
            self.init(try BusConnecting.connect(address))
        }
    }

    private convenience init(_ connected: BusConnecting.Connected) {
        self.init(BusEnd(connected.channel()), as: connected.name)
    }

    convenience init(_ end: MemoryChannel) { self.init(end, as: end.name) }

    /// A connection by `channel`, which has got its name.
    private init(_ channel: any BusChannel, as name: BusName) {
        uniqueName = name
        self.channel = channel
        connection = Connection(channel)
        connection.directory = callers
        channel.connection = connection
        tokens.append(connection.onSignal(.bus, "NameOwnerChanged") { [weak self] in self?.ownerChanged($0) })
        tokens.append(connection.onSignal(.bus, "NameLost") { [weak self] in self?.nameLost($0) })
    }

    /// Connects and says hello on a separate thread, so that the main loop keeps running whatever the bus
    /// does. This takes as long as the system needs to connect, and at most ``BusConnecting/patience`` after
    /// that.
    /// - Throws: what libdbus says if there is no such bus.
    package static func connect(_ address: Address) async throws -> Bus {
        if case .memory(let bus) = address { return bus.connect() }
        return Bus(try await BusConnecting.connectOnThread(address))
    }

    private var daemon: RemoteObject { RemoteObject(connection, Self.name, "/org/freedesktop/DBus") }

    /// Sends what is queued before it returns. This is meant for the end of a program.
    package func flush() { channel.flush(until: MainLoop.now + Self.partingTime) }

    /// How long what is queued may take to be sent at the end of a program, in microseconds.
    private static let partingTime: Int64 = 500_000

    /// Sends what is queued, and leaves the bus before it returns. This is meant for the end of a daemon: a thread that
    /// waits for a file system that does not answer keeps the process, and all that it has open, until that answers.
    package func leave() {
        flush()
        channel.close()
    }

    // MARK: Names

    /// The outcome of asking for a name.
    package enum NameReply: Sendable { case owned, taken }

    /// Asks for `name`.
    /// - Parameters:
    ///   - replacing: whether to take it from an owner that allows that.
    ///   - replaceable: whether to let others take it from us.
    package func request(
        _ name: BusName, replacing: Bool = false, replaceable: Bool = true
    ) async throws -> NameReply {
        var flags = UInt32(DBUS_NAME_FLAG_DO_NOT_QUEUE)
        if replacing { flags |= UInt32(DBUS_NAME_FLAG_REPLACE_EXISTING) }
        if replaceable { flags |= UInt32(DBUS_NAME_FLAG_ALLOW_REPLACEMENT) }
        let reply = try await daemon.call(
            .bus, "RequestName", output: "u", timeout: BusConnecting.patience
        ) { (writer) throws(DBusError) in
            try writer.write(name.text)
            try writer.write(flags)
        }
        var reader = MessageReader(reply)
        let code: UInt32 = try reader.read()
        let isOurs =
            code == DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER || code == DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER
        return isOurs ? .owned : .taken
    }

    /// Gives up `name`.
    package func release(_ name: BusName) async throws {
        _ = try await daemon.call(.bus, "ReleaseName", output: "u") { (writer) throws(DBusError) in
            try writer.write(name.text)
        }
    }

    /// The unique name of `name`'s owner, nil if it has none.
    package func owner(of name: BusName) async throws -> BusName? {
        do {
            let reply = try await daemon.call(.bus, "GetNameOwner", output: "s") {
                (writer) throws(DBusError) in
                try writer.write(name.text)
            }
            var reader = MessageReader(reply)
            return try BusName(try reader.read(String.self))
        } catch let error as DBusError where error.name == .nameHasNoOwner {
            return nil
        }
    }

    /// Who owns `name` now, nil if nobody does. A name says nothing of its owner, which may have taken it from within a
    /// sandbox.
    package func identifiedOwner(of name: BusName) async throws -> Caller? {
        guard let owner = try await owner(of: name) else { return nil }
        return await caller(owner)
    }

    /// Who owns `name`, which the bus is asked to start if nobody does; nil if even then nobody does.
    package func identifiedOwner(starting name: BusName, timeout: Duration) async throws -> Caller? {
        if let owner = try await identifiedOwner(of: name) { return owner }
        try await startService(name, timeout: timeout)
        return try await identifiedOwner(of: name)
    }

    /// Whether `name` has called us and has not left the bus since.
    package func knows(_ name: BusName) -> Bool { callers.knows(name) }

    /// Finds out who `name`, a unique name, is, and calls `body` with the result: at once if it is known
    /// already, otherwise as soon as it is, and never if the connection has left the bus. Calls of that
    /// connection are served only after that.
    package func identify(_ name: BusName, _ body: @escaping @MainLoop (Caller) -> Void) {
        callers.line(of: name).whenIdentified(body)
    }

    /// Asks the bus to start the service that provides `name`, if it is not running.
    package func startService(
        _ name: BusName, timeout: Duration = Connection.defaultTimeout
    ) async throws {
        _ = try await daemon.call(.bus, "StartServiceByName", output: "u", timeout: timeout) {
            (writer) throws(DBusError) in
            try writer.write(name.text)
            try writer.write(UInt32(0))
        }
    }

    /// Who `name`, a unique name, is; nil if it has left. One that the bus does not tell of counts as sandboxed.
    func caller(_ name: BusName) async -> Caller? {
        let caller = await callerNow(name)
        // Nothing can be found out of a process that has ended. The bus may not have noticed its end at the first question;
        // at the next it has, unless another process holds the connection.
        return caller?.sandbox == .unknown ? await callerNow(name) : caller
    }

    private func callerNow(_ name: BusName) async -> Caller? {
        do {
            return try await identified(name)
        } catch {
            guard !connection.isClosed, DBusError.converting(error).name != .nameHasNoOwner else {
                return nil
            }
            Log(domain: "dbus").warning("The bus does not say who \(name) is: \(error)")
            return Caller(name: name, credentials: nil, sandbox: .unknown)
        }
    }

    private func identified(_ name: BusName) async throws -> Caller {
        let reply = try await daemon.call(.bus, "GetConnectionCredentials", output: "a{sv}") {
            (writer) throws(DBusError) in try writer.write(name.text)
        }
        var reader = MessageReader(reply)
        let credentials = Credentials(try reader.read())
        return Caller(
            name: name, credentials: credentials, sandbox: channel.sandbox(of: name, credentials))
    }

    // MARK: Watches and matches

    /// Calls `body` with the unique name of `name`'s owner, or nil if it has none: once for the present
    /// state, then at each change, until the token is freed.
    package func watch(_ name: BusName, _ body: @escaping @MainLoop (BusName?) -> Void) -> NameWatch {
        nextWatch += 1
        let number = nextWatch
        watches[name, default: [:]][number] = Watcher(body: body)
        addMatch(.ownerChange(of: name))
        MainLoop.start { [weak self] in
            let owner = try? await self?.owner(of: name)
            // If a change has been reported already, it is newer than this answer.
            if let watcher = self?.watches[name]?[number], !watcher.isTold {
                self?.tell(owner ?? nil, name, number)
            }
        }
        return NameWatch(self, name, number)
    }

    private func tell(_ owner: BusName?, _ name: BusName, _ number: Int) {
        watches[name]?[number]?.isTold = true
        watches[name]?[number]?.body(owner)
    }

    func removeWatch(_ name: BusName, _ number: Int) {
        watches[name]?[number] = nil
        if watches[name]?.isEmpty == true { watches[name] = nil }
        removeMatch(.ownerChange(of: name))
    }

    /// Adds a match rule; the bus counts them.
    package func addMatch(_ rule: MatchRule) { postRule("AddMatch", rule) }

    /// Takes back one ``addMatch(_:)``.
    package func removeMatch(_ rule: MatchRule) { postRule("RemoveMatch", rule) }

    private func postRule(_ member: MemberName, _ rule: MatchRule) {
        try? daemon.post(.bus, member) { (writer) throws(DBusError) in try writer.write(rule.text) }
    }

    private func ownerChanged(_ signal: Message) {
        guard signal.sender == Self.name else { return }
        var reader = MessageReader(signal)
        guard let text: String = try? reader.read(), let name = try? BusName(text),
            (try? reader.read(String.self)) != nil, let new: String = try? reader.read()
        else { return }
        let owner = try? BusName(new)
        if name.text.hasPrefix(":"), owner == nil { callers.vanished(name) }
        for number in (watches[name] ?? [:]).keys.sorted() { tell(owner, name, number) }
    }

    private func nameLost(_ signal: Message) {
        guard signal.sender == Self.name else { return }
        var reader = MessageReader(signal)
        guard let text: String = try? reader.read(), let name = try? BusName(text) else { return }
        onNameLost?(name)
    }
}

/// Keeps a name watch alive; freeing it ends the watch.
@MainLoop
package final class NameWatch {
    private weak var bus: Bus?
    private let name: BusName
    private let number: Int

    init(_ bus: Bus, _ name: BusName, _ number: Int) {
        self.bus = bus
        self.name = name
        self.number = number
    }

    isolated deinit { bus?.removeWatch(name, number) }
}
