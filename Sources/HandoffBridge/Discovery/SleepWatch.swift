// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop

/// Learns when the machine has woken up, from logind on the system bus (org.freedesktop.login1(5),
/// `PrepareForSleep`).
@MainLoop
final class SleepWatch {
    private static let name: BusName = "org.freedesktop.login1"
    private static let manager: InterfaceName = "org.freedesktop.login1.Manager"
    private static let rule = MatchRule(
        sender: name, interface: manager, member: "PrepareForSleep", path: "/org/freedesktop/login1")

    private let bus: Bus
    private var owner: BusName?
    private var watch: NameWatch?
    private var token: SignalToken?

    /// Calls `resumed` each time, until this is freed.
    init(_ bus: Bus, _ resumed: @escaping @MainLoop () -> Void) {
        self.bus = bus
        bus.addMatch(Self.rule)
        watch = bus.watch(Self.name) { [weak self] in self?.owner = $0 }
        token = bus.connection.onSignal(Self.manager, "PrepareForSleep") { [weak self] signal in
            // Others could send us such a signal too.
            guard let owner = self?.owner, signal.sender == owner else { return }
            var reader = MessageReader(signal)
            if let isAboutToSleep: Bool = try? reader.read(), !isAboutToSleep { resumed() }
        }
    }

    isolated deinit { bus.removeMatch(Self.rule) }
}
