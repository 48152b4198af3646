// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop
internal import Platform

/// The Avahi daemon on the system bus (its D-Bus interfaces as of version 0.8), for as long as it runs and has
/// established its name on the network.
///
/// All objects that it makes for this program are gone once the daemon is gone.
@MainLoop
final class Avahi {
    static let name: BusName = "org.freedesktop.Avahi"
    static let server: InterfaceName = "org.freedesktop.Avahi.Server"
    static let server2: InterfaceName = "org.freedesktop.Avahi.Server2"
    /// Any interface, any protocol (`AVAHI_IF_UNSPEC`, `AVAHI_PROTO_UNSPEC`).
    nonisolated static let any: Int32 = -1
    /// `AVAHI_SERVER_RUNNING`
    private static let running: Int32 = 2

    private let bus: Bus
    private let changed: @MainLoop (Bool) -> Void
    private var watch: NameWatch?
    private var owner: BusName?
    private var isRunning = false
    private var hasToldState = false
    private var tokens: [SignalToken] = []
    /// The handler of the signals of each object.
    private var handlers: [ObjectPath: @MainLoop (Message) -> Void] = [:]

    /// Calls `changed` with true when the daemon can be used, and with false when it can no longer be used.
    init(_ bus: Bus, _ changed: @escaping @MainLoop (Bool) -> Void) {
        self.bus = bus
        self.changed = changed
        bus.addMatch(Self.stateRule)
        let interfaces = [Self.server, AvahiEntryGroup.interface, AvahiBrowser.interface]
        tokens = interfaces.map { interface in
            bus.connection.onSignal(interface) { [weak self] in self?.received($0) }
        }
        watch = bus.watch(Self.name) { [weak self] in self?.ownerChanged($0) }
    }

    private static let stateRule = MatchRule(sender: name, interface: server, member: "StateChanged")

    // MARK: Coming and going

    private func ownerChanged(_ new: BusName?) {
        guard new != owner else { return }
        owner = new
        hasToldState = false
        handlers = [:]
        setRunning(false)
        guard new != nil else {
            return bridgeLog.info("Avahi is not running: devices cannot be found by themselves.")
        }
        askState()
    }

    /// Finds out whether the daemon can be used, unless it has already said so.
    func askState() {
        guard let asked = owner, !isRunning, !hasToldState else { return }
        MainLoop.start { [weak self] in
            guard let self, owner == asked else { return }
            do {
                let state: Int32 = try await call(Self.root, Self.server, "GetState", output: "i") { _ in }
                    .read()
                if owner == asked, !hasToldState { setRunning(state == Self.running) }
            } catch {
                bridgeLog.info("Avahi does not say how it is: \(error)")
            }
        }
    }

    private func setRunning(_ new: Bool) {
        guard new != isRunning else { return }
        isRunning = new
        bridgeLog.debug("Avahi \(new ? "can" : "cannot") be used.")
        changed(new)
    }

    private func received(_ signal: Message) {
        // Others could send us such signals too.
        guard let owner, signal.sender == owner, let path = signal.path else { return }
        if let handler = handlers[path] { return handler(signal) }
        guard path == Self.root, signal.member == "StateChanged" else { return }
        var reader = MessageReader(signal)
        guard let state: Int32 = try? reader.read() else { return }
        hasToldState = true
        setRunning(state == Self.running)
    }

    // MARK: Calls

    static let root: ObjectPath = "/"

    /// Calls the daemon, and returns the arguments of the answer.
    /// - Throws: `Disconnected` if it does not run.
    func call(
        _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName, output: String = "",
        timeout: Duration = Connection.defaultTimeout,
        _ arguments: (inout MessageWriter) throws(DBusError) -> Void
    ) async throws -> Answer {
        guard let owner else { throw DBusError(.disconnected, "Avahi is not running.") }
        let object = RemoteObject(bus.connection, owner, path)
        return Answer(
            try await object.call(interface, member, output: output, timeout: timeout, arguments))
    }

    /// Has the daemon make an object, and returns who owns it and where it is. This waits for the object even
    /// if the task is cancelled, so that it can be freed.
    func create(
        _ interface: InterfaceName, _ member: MemberName,
        _ arguments: @escaping @Sendable (inout MessageWriter) throws(DBusError) -> Void
    ) async throws -> (owner: BusName, path: ObjectPath) {
        guard let owner else { throw DBusError(.disconnected, "Avahi is not running.") }
        let making = MainLoop.start { [self] () async throws -> ObjectPath in
            try await call(Self.root, interface, member, output: "o", arguments).read()
        }
        return (owner, try await making.value)
    }

    /// Calls the daemon without waiting for an answer, if the daemon is still `owner`: another one has other
    /// objects at the same paths.
    func post(_ owner: BusName, _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName) {
        guard owner == self.owner else { return }
        try? RemoteObject(bus.connection, owner, path).post(interface, member) { _ in }
    }

    /// Calls `handler` with each signal of the object at `path` from now on; nil ends that.
    func setHandler(_ path: ObjectPath, _ handler: (@MainLoop (Message) -> Void)?) {
        handlers[path] = handler
    }

    /// The arguments of an answer, one after the other.
    struct Answer {
        private var reader: MessageReader

        init(_ message: Message) { reader = MessageReader(message) }

        mutating func next<Type: DBusType>(_: Type.Type = Type.self) throws -> Type { try reader.read() }

        /// The first argument.
        func read<Type: DBusType>(_: Type.Type = Type.self) throws -> Type {
            var copy = self
            return try copy.next()
        }
    }

    isolated deinit { bus.removeMatch(Self.stateRule) }
}
