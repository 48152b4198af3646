// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop

/// The monitor of keyboard and pointer that GNOME sessions have, which says when there has been nothing for three minutes
/// and when there is something again. It is asked once for each, so that nothing happens in between.
@MainLoop
final class IdleMonitor {
    private static let name: BusName = "org.gnome.Mutter.IdleMonitor"
    private static let path: ObjectPath = "/org/gnome/Mutter/IdleMonitor/Core"
    private static let interface: InterfaceName = "org.gnome.Mutter.IdleMonitor"
    private static let rule = MatchRule(
        sender: name, interface: interface, member: "WatchFired", path: path)
    /// How long it may take to answer.
    private static let patience = Duration.seconds(5)

    private let bus: Bus
    private let changed: @MainLoop (Bool) -> Void
    private var owner: OwnerWatch?
    private var token: SignalToken?
    private var idleWatch: UInt32?
    private var activeWatch: UInt32?

    /// Calls `changed` with true when nobody has done anything for three minutes, and with false when somebody does again,
    /// until this is freed.
    init(_ bus: Bus, _ changed: @escaping @MainLoop (Bool) -> Void) {
        self.bus = bus
        self.changed = changed
        bus.addMatch(Self.rule)
        token = bus.connection.onSignal(Self.interface, "WatchFired") { [weak self] in self?.fired($0) }
        owner = OwnerWatch(bus, Self.name, log: agentLog) { [weak self] in self?.ownerChanged($0) }
    }

    isolated deinit { bus.removeMatch(Self.rule) }

    private func ownerChanged(_ name: BusName?) {
        (idleWatch, activeWatch) = (nil, nil)
        guard let name else { return }
        let interval = UInt64(Presence.longIdle.components.seconds) * 1000
        MainLoop.start { [weak self] in
            let number = try? await self?.add(name, "AddIdleWatch") { (writer) throws(DBusError) in
                try writer.write(interval)
            }
            if let self, owner?.name == name { idleWatch = number }
        }
    }

    private func add(
        _ name: BusName, _ member: MemberName, _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) async throws -> UInt32 {
        let reply = try await RemoteObject(bus.connection, name, Self.path).call(
            Self.interface, member, output: "u", timeout: Self.patience, body)
        var reader = MessageReader(reply)
        return try reader.read()
    }

    private func fired(_ signal: Message) {
        guard let name = owner?.name, signal.sender == name else { return }
        var reader = MessageReader(signal)
        guard let number: UInt32 = try? reader.read() else { return }
        if number == idleWatch {
            changed(true)
            MainLoop.start { [weak self] in
                let number = try? await self?.add(name, "AddUserActiveWatch") { (_) throws(DBusError) in }
                if let self, owner?.name == name { activeWatch = number }
            }
        } else if number == activeWatch {
            // It fires but once.
            activeWatch = nil
            changed(false)
        }
    }
}
