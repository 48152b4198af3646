// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// The screen savers of the session. What one covers nobody sees, and who ends it has come to the machine: it counts as a
/// lock. Many lock the session without telling logind.
@MainLoop
final class ScreenSavers {
    /// What a screen saver says.
    enum Fact: Equatable {
        case isActive(Bool)
        /// There is none, or it is none that says so.
        case missing
    }

    /// The name under which desktops have one, with its object and its interface.
    private struct Kind {
        let locker: Presence.Locker
        let name: BusName
        let path: ObjectPath
        let interface: InterfaceName
    }

    private static let kinds = [
        Kind(
            locker: .desktopScreenSaver, name: "org.gnome.ScreenSaver", path: "/org/gnome/ScreenSaver",
            interface: "org.gnome.ScreenSaver"),
        Kind(
            locker: .screenSaver, name: "org.freedesktop.ScreenSaver", path: "/org/freedesktop/ScreenSaver",
            interface: "org.freedesktop.ScreenSaver"),
    ]
    /// How long one may take to answer.
    private static let patience = Duration.seconds(5)

    private let bus: Bus
    private let tell: @MainLoop (Presence.Locker, Fact) -> Void
    private var owners: [OwnerWatch] = []
    private var tokens: [SignalToken] = []
    private var rules: [MatchRule] = []
    private let repetitions: [Repetition]

    /// Calls `tell` with what each of them says, first once that is known, until this is freed.
    init(_ bus: Bus, _ tell: @escaping @MainLoop (Presence.Locker, Fact) -> Void) {
        self.bus = bus
        self.tell = tell
        repetitions = Self.kinds.map { _ in Repetition() }
        for (index, kind) in Self.kinds.enumerated() {
            let rule = MatchRule(sender: kind.name, interface: kind.interface, member: "ActiveChanged")
            rules.append(rule)
            bus.addMatch(rule)
            tokens.append(
                bus.connection.onSignal(kind.interface, "ActiveChanged") { [weak self] in
                    self?.received(index, $0)
                })
            owners.append(
                OwnerWatch(bus, kind.name, log: agentLog) { [weak self] in self?.ownerChanged(index, $0) })
        }
    }

    isolated deinit { for rule in rules { bus.removeMatch(rule) } }

    private func ownerChanged(_ index: Int, _ name: BusName?) {
        repetitions[index].end()
        guard let name else { return tell(Self.kinds[index].locker, .missing) }
        ask(index, name)
    }

    private func ask(_ index: Int, _ name: BusName) {
        let kind = Self.kinds[index]
        let saver = RemoteObject(bus.connection, name, kind.path)
        MainLoop.start { [weak self] in
            do {
                let reply = try await saver.call(
                    kind.interface, "GetActive", output: "b", timeout: Self.patience
                ) { (_) throws(DBusError) in }
                var reader = MessageReader(reply)
                let isActive: Bool = try reader.read()
                self?.answered(index, name, .success(isActive))
            } catch {
                self?.answered(index, name, .failure(DBusError.converting(error)))
            }
        }
    }

    private func answered(_ index: Int, _ name: BusName, _ answer: Result<Bool, DBusError>) {
        guard owners[index].name == name else { return }
        switch answer {
        case .success(let isActive): said(index, isActive)
        case .failure(let error) where error.name == .noReply:
            // It may be active, and only has no time.
            agentLog.info("Whether \(Self.kinds[index].name) is active is not known yet: \(error.message)")
            repetitions[index].repeatLater { [weak self] in
                if let self, owners[index].name == name { ask(index, name) }
            }
        case .failure: tell(Self.kinds[index].locker, .missing)
        }
    }

    private func received(_ index: Int, _ signal: Message) {
        guard index < owners.count, let name = owners[index].name, signal.sender == name else { return }
        var reader = MessageReader(signal)
        if let isActive: Bool = try? reader.read() { said(index, isActive) }
    }

    private func said(_ index: Int, _ isActive: Bool) {
        repetitions[index].end()
        tell(Self.kinds[index].locker, .isActive(isActive))
    }
}
