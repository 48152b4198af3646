// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop

/// The screen saver of a session without logind. What it covers nobody sees, and who ends it has come to the machine: it
/// counts as a lock.
@MainLoop
final class ScreenSavers {
    /// The names under which desktops have one, with its object and its interface.
    private static let kinds: [(name: BusName, path: ObjectPath, interface: InterfaceName)] = [
        ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver", "org.gnome.ScreenSaver"),
        ("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver", "org.freedesktop.ScreenSaver"),
    ]
    /// How long one may take to answer.
    private static let patience = Duration.seconds(5)

    private let bus: Bus
    private let changed: @MainLoop (Bool) -> Void
    private var owners: [OwnerWatch] = []
    private var tokens: [SignalToken] = []
    private var rules: [MatchRule] = []
    /// Whether each is active; an entry is missing until that is known.
    private var active: [Int: Bool] = [:]
    private var told: Bool?

    /// Calls `changed` with whether one is active, first once that is known, until this is freed.
    init(_ bus: Bus, _ changed: @escaping @MainLoop (Bool) -> Void) {
        self.bus = bus
        self.changed = changed
        for (index, kind) in Self.kinds.enumerated() {
            let rule = MatchRule(sender: kind.name, interface: kind.interface, member: "ActiveChanged")
            rules.append(rule)
            bus.addMatch(rule)
            tokens.append(
                bus.connection.onSignal(kind.interface, "ActiveChanged") { [weak self] in
                    self?.received(index, $0)
                })
            owners.append(OwnerWatch(bus, kind.name) { [weak self] in self?.ownerChanged(index, $0) })
        }
    }

    isolated deinit { for rule in rules { bus.removeMatch(rule) } }

    /// Whether there is any.
    var areThere: Bool { owners.contains { $0.name != nil } }

    private func ownerChanged(_ index: Int, _ name: BusName?) {
        guard let name else { return set(index, false) }
        let kind = Self.kinds[index]
        let saver = RemoteObject(bus.connection, name, kind.path)
        MainLoop.start { [weak self] in
            let reply = try? await saver.call(
                kind.interface, "GetActive", output: "b", timeout: Self.patience
            ) { (_) throws(DBusError) in }
            var isActive = false
            if let reply {
                var reader = MessageReader(reply)
                isActive = (try? reader.read()) ?? false
            }
            if let self, owners[index].name == name { set(index, isActive) }
        }
    }

    private func received(_ index: Int, _ signal: Message) {
        guard index < owners.count, let name = owners[index].name, signal.sender == name else { return }
        var reader = MessageReader(signal)
        if let isActive: Bool = try? reader.read() { set(index, isActive) }
    }

    private func set(_ index: Int, _ isActive: Bool) {
        active[index] = isActive
        guard active.count == Self.kinds.count else { return }
        let isAnyActive = active.values.contains(true)
        guard told != isAnyActive else { return }
        told = isAnyActive
        changed(isAnyActive)
    }
}
