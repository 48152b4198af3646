// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffSession
internal import MainLoop
internal import Platform

/// This session, as logind knows it (org.freedesktop.login1(5)).
@MainLoop
final class LoginSession {
    /// What logind says.
    enum Fact: Equatable {
        /// There is no logind, or it does not know this session.
        case missing
        case isLocked(Bool)
        /// Whoever locks the session is asked to, or to unlock it.
        case lockAsked, unlockAsked
        case isIdle(Bool)
        /// The machine is about to sleep, or has woken up.
        case sleeps, awake
    }

    private static let name: BusName = "org.freedesktop.login1"
    private static let root: ObjectPath = "/org/freedesktop/login1"
    private static let manager: InterfaceName = "org.freedesktop.login1.Manager"
    private static let session: InterfaceName = "org.freedesktop.login1.Session"
    private static let user: InterfaceName = "org.freedesktop.login1.User"
    private static let sleepRule = MatchRule(
        sender: name, interface: manager, member: "PrepareForSleep", path: root)
    /// How long logind may take to answer.
    private static let patience = Duration.seconds(5)

    private let bus: Bus
    private let tell: @MainLoop (Fact) -> Void
    private var watch: NameWatch?
    private var tokens: [SignalToken] = []
    private var owner: BusName?
    private var path: ObjectPath?
    private var sessionRules: [MatchRule] = []
    private let repetition = Repetition()

    /// Calls `tell` with what logind on `bus`, the system's, says, until this is freed.
    init(_ bus: Bus, _ tell: @escaping @MainLoop (Fact) -> Void) {
        self.bus = bus
        self.tell = tell
        for interface in [Self.manager, Self.session, .properties] {
            tokens.append(bus.connection.onSignal(interface) { [weak self] in self?.received($0) })
        }
        bus.addMatch(Self.sleepRule)
        watch = bus.watch(Self.name) { [weak self] in self?.ownerChanged($0) }
    }

    isolated deinit { for rule in sessionRules + [Self.sleepRule] { bus.removeMatch(rule) } }

    // MARK: Finding it

    private func ownerChanged(_ new: BusName?) {
        owner = new
        repetition.end()
        guard let new else { return tell(.missing) }
        MainLoop.start { [weak self] in await self?.find(new) }
    }

    /// Until logind answers nothing is said: the session may be locked.
    private func find(_ name: BusName) async {
        do {
            let found = try await sessionPath(name)
            guard owner == name else { return }
            guard let found else { return tell(.missing) }
            follow(found)
            // Asked for after the signals, so that nothing is missed in between.
            let hints = try await properties(name, found, Self.session)
            guard owner == name, path == found else { return }
            repetition.end()
            tellHints(hints)
        } catch {
            failed(name, DBusError.converting(error))
        }
    }

    private func failed(_ name: BusName, _ error: DBusError) {
        guard owner == name else { return }
        if Self.saysThatThereIsNone(error) { return tell(.missing) }
        agentLog.info("Whether the session is locked is not known yet: \(error.message)")
        repetition.repeatLater { [weak self] in
            guard let self, owner == name else { return }
            MainLoop.start { [weak self] in await self?.find(name) }
        }
    }

    private func follow(_ found: ObjectPath) {
        guard path != found else { return }
        for rule in sessionRules { bus.removeMatch(rule) }
        path = found
        sessionRules = [
            MatchRule(sender: Self.name, interface: .properties, path: found),
            MatchRule(sender: Self.name, interface: Self.session, path: found),
        ]
        for rule in sessionRules { bus.addMatch(rule) }
    }

    /// By the environment, by this process, or else the session that the user has on a screen: the agent may be a child of
    /// the user's systemd, which is in no session. Nil if there is none.
    private func sessionPath(_ name: BusName) async throws -> ObjectPath? {
        if let id = getenv("XDG_SESSION_ID").map({ String(cString: $0) }), !id.isEmpty,
            let path = try await path(
                name, "GetSession", { (writer) throws(DBusError) in try writer.write(id) }),
            try await knownProperties(name, path, Self.session) != nil
        {
            return path
        }
        if let path = try await path(
            name, "GetSessionByPID", { (writer) throws(DBusError) in try writer.write(UInt32(getpid())) })
        {
            return path
        }
        let user = try await path(
            name, "GetUser", { (writer) throws(DBusError) in try writer.write(UInt32(getuid())) })
        guard let user,
            let about = try await knownProperties(name, user, Self.user),
            case .structure(let display)? = about["Display"], display.fields.count == 2,
            case .objectPath(let path) = display.fields[1], path != .root
        else { return nil }
        return path
    }

    private static func saysThatThereIsNone(_ error: DBusError) -> Bool {
        switch error.name {
        case .unknownObject, .unknownInterface, .unknownMethod,
            "org.freedesktop.login1.NoSuchSession", "org.freedesktop.login1.NoSessionForPID",
            "org.freedesktop.login1.NoSuchUser":
            true
        default: false
        }
    }

    /// What logind knows by what `body` says; nil if there is no such thing.
    private func path(
        _ name: BusName, _ member: MemberName, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) async throws -> ObjectPath? {
        do {
            let reply = try await RemoteObject(bus.connection, name, Self.root).call(
                Self.manager, member, output: "o", timeout: Self.patience, body)
            var reader = MessageReader(reply)
            let path: ObjectPath = try reader.read()
            return path
        } catch {
            if Self.saysThatThereIsNone(DBusError.converting(error)) { return nil }
            throw error
        }
    }

    private func properties(
        _ name: BusName, _ path: ObjectPath, _ interface: InterfaceName
    ) async throws -> [String: Value] {
        try await Daemon(bus: bus, name: name).properties(interface, path, timeout: Self.patience)
    }

    /// The same; nil if there is no such thing.
    private func knownProperties(
        _ name: BusName, _ path: ObjectPath, _ interface: InterfaceName
    ) async throws -> [String: Value]? {
        do {
            return try await properties(name, path, interface)
        } catch {
            if Self.saysThatThereIsNone(DBusError.converting(error)) { return nil }
            throw error
        }
    }

    // MARK: Listening

    private func received(_ signal: Message) {
        guard let owner, signal.sender == owner else { return }
        var reader = MessageReader(signal)
        if signal.path == Self.root, signal.member == "PrepareForSleep" {
            if let isAboutToSleep: Bool = try? reader.read() { tell(isAboutToSleep ? .sleeps : .awake) }
            return
        }
        guard let path, signal.path == path else { return }
        switch signal.member {
        case "Lock": tell(.lockAsked)
        case "Unlock": tell(.unlockAsked)
        case "PropertiesChanged":
            if (try? reader.read(String.self)) == Self.session.text,
                let changed: [String: Value] = try? reader.read()
            {
                tellHints(changed)
            }
        default: break
        }
    }

    private func tellHints(_ properties: [String: Value]) {
        // What says nothing of it leaves it unknown, and then nothing is shown.
        if case .boolean(let isLocked)? = properties["LockedHint"] { tell(.isLocked(isLocked)) }
        if properties["IdleHint"] != nil { tell(.isIdle(properties.flag("IdleHint"))) }
    }
}
