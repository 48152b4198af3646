// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop

/// Learns from logind on the system bus when the machine is about to sleep and when it has woken up, and has it wait
/// (org.freedesktop.login1(5): `PrepareForSleep`, `Inhibit`).
@MainLoop
final class SleepWatch {
    private static let name: BusName = "org.freedesktop.login1"
    private static let path: ObjectPath = "/org/freedesktop/login1"
    private static let manager: InterfaceName = "org.freedesktop.login1.Manager"
    private static let rule = MatchRule(
        sender: name, interface: manager, member: "PrepareForSleep", path: path)

    private let bus: Bus
    private var owner: BusName?
    private var watch: NameWatch?
    private var token: SignalToken?

    /// Calls `changed` each time, with whether the machine is about to sleep, and `ownerChanged` when there is another logind,
    /// or none; until this is freed.
    init(
        _ bus: Bus, _ changed: @escaping @MainLoop (Bool) -> Void,
        ownerChanged: @escaping @MainLoop () -> Void
    ) {
        self.bus = bus
        bus.addMatch(Self.rule)
        watch = bus.watch(Self.name) { [weak self] in
            self?.owner = $0
            ownerChanged()
        }
        token = bus.connection.onSignal(Self.manager, "PrepareForSleep") { [weak self] signal in
            // Others could send us such a signal too.
            guard let owner = self?.owner, signal.sender == owner else { return }
            var reader = MessageReader(signal)
            if let isAboutToSleep: Bool = try? reader.read() { changed(isAboutToSleep) }
        }
    }

    isolated deinit { bus.removeMatch(Self.rule) }

    /// Has the machine wait before it sleeps, for some seconds at most, until what is returned is closed.
    /// - Throws: why it does not wait; nil is returned if there is no logind.
    func delay(why: String) async throws -> FileDescriptor? {
        guard let owner else { return nil }
        let reply = try await RemoteObject(bus.connection, owner, Self.path).call(
            Self.manager, "Inhibit", output: "h"
        ) { (writer) throws(DBusError) in
            for text in ["sleep", "Handoff", why, "delay"] { try writer.write(text) }
        }
        var reader = MessageReader(reply)
        return try reader.readFileDescriptor()
    }
}
