// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import MainLoop
import Platform

/// Handoff's extension of GNOME Shell, as the Shell knows it: installed, and on or off.
@MainLoop
final class ShellExtension {
    private static let uuid = Vendor.addOn
    private static let shell: BusName = "org.gnome.Shell"
    private static let interface: InterfaceName = "org.gnome.Shell.Extensions"
    private static let change: MemberName = "ExtensionStateChanged"
    private static let rule = MatchRule(sender: shell, interface: interface, member: change)
    /// What the Shell says of one that is on: being switched on, or on (ExtensionState in its `extensionUtils.js`).
    private static let on: Set<Double> = [1, 8]

    private let bus: Bus
    private let tell: @MainLoop (Bool?) -> Void
    private var watch: NameWatch?
    private var changes: SignalToken?
    private var isThere = false

    /// The one that the Shell on `bus` has. `tell` is told whether it is on, or nil if there is none, at each change.
    init(_ bus: Bus, _ tell: @escaping @MainLoop (Bool?) -> Void) {
        (self.bus, self.tell) = (bus, tell)
        bus.addMatch(Self.rule)
        changes = bus.connection.onSignal(Self.interface, Self.change) { [weak self] _ in self?.look() }
        watch = bus.watch(Self.shell) { [weak self] owner in
            self?.isThere = owner != nil
            self?.look()
        }
    }

    /// Switches it on or off.
    /// - Throws: if the Shell does not do that.
    func set(_ isOn: Bool) async throws {
        let message = try await object.call(
            Self.interface, isOn ? "EnableExtension" : "DisableExtension", output: "b"
        ) { (writer) throws(DBusError) in try writer.write(Self.uuid) }
        var reader = MessageReader(message)
        guard try reader.read(Bool.self) else {
            throw DBusError(.failed, tr("GNOME does not do it. See the program “Extensions”."))
        }
    }

    private var object: RemoteObject { RemoteObject(bus.connection, Self.shell, "/org/gnome/Shell") }

    private func look() {
        guard isThere else { return tell(nil) }
        MainLoop.start { [weak self] in
            guard let self else { return }
            tell(try? await isOn())
        }
    }

    private func isOn() async throws -> Bool? {
        let message = try await object.call(Self.interface, "GetExtensionInfo", output: "a{sv}") {
            (writer) throws(DBusError) in try writer.write(Self.uuid)
        }
        var reader = MessageReader(message)
        let about: [String: Value] = try reader.read()
        guard case .double(let state)? = about["state"] else { return nil }
        return Self.on.contains(state)
    }
}
