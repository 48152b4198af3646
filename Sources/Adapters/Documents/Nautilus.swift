// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore
internal import MainLoop

/// GNOME's file manager, which tells the folders of its windows by the interface that file managers have in common.
@MainLoop
final class Nautilus: WindowSource {
    nonisolated let id: ApplicationID
    var onChange: (@MainLoop (ViewerWindow) -> Void)?
    var onGone: (@MainLoop (ViewerWindow) -> Void)?
    var onPresenceChange: (@MainLoop () -> Void)?

    private let bus: Bus
    private var names: NamedOwners?
    /// Who owns the name that no other file manager takes.
    private var own: NamedOwners?
    private var token: SignalToken?
    private lazy var refresher = Refresher { [weak self] in await self?.look() }
    /// The places that the tabs of each window show, and the one that was new last.
    private var windows: [ViewerWindow: FolderTabs] = [:]

    /// The name of whatever file manager there is.
    static let manager: BusName = "org.freedesktop.FileManager1"
    private static let name: BusName = "org.gnome.Nautilus"
    static let interface: InterfaceName = "org.freedesktop.FileManager1"
    static let path: ObjectPath = "/org/freedesktop/FileManager1"
    /// Where the windows of Nautilus are.
    private static let windowPath: ObjectPath = "/org/gnome/Nautilus/window"
    private static let maximum = 64

    /// Nautilus as an application of the session that `bus` is of.
    init(_ bus: Bus, _ id: ApplicationID) { (self.bus, self.id) = (bus, id) }

    private static let rule = MatchRule(
        sender: manager, interface: .properties, member: "PropertiesChanged", path: path)

    func begin() {
        guard names == nil else { return }
        token = bus.connection.onSignal(.properties, "PropertiesChanged") { [weak self] signal in
            guard let self, signal.path == Self.path, signal.sender == owner?.name else { return }
            refresher.refresh()
        }
        bus.addMatch(Self.rule)
        let names = NamedOwners(bus, of: id, within: Self.manager) { [weak self] _, _ in
            self?.forget()
            self?.refresher.refresh()
        }
        self.names = names
        names.begin()
        let own = NamedOwners(bus, of: id, within: Self.name) { [weak self] _, _ in
            self?.onPresenceChange?()
        }
        self.own = own
        own.begin()
    }

    /// It is there as a service too, and without a window when it has been started to look after files.
    var isPresent: Bool { own?.owners[Self.name] != nil || !windows.isEmpty }

    func end() {
        guard names != nil else { return }
        refresher.cancel()
        names?.end()
        own?.end()
        (names, own, token, windows) = (nil, nil, nil, [:])
        bus.removeMatch(Self.rule)
    }

    private var owner: NamedOwners.Owner? { names?.owners[Self.manager] }

    private func forget() {
        let former = windows.keys
        windows = [:]
        for window in former { onGone?(window) }
    }

    private func look() async {
        guard let owner else { return }
        let present: [String: [String]]? = try? await RemoteObject(bus.connection, owner.name, Self.path)
            .property(Self.interface, "OpenWindowsWithLocations", timeout: viewerPatience)
        guard let present, self.owner?.name == owner.name else { return }
        var found: [ViewerWindow: [String]] = [:]
        for (path, places) in present where found.count < Self.maximum {
            guard let path = try? ObjectPath(path), path.suffix(below: Self.windowPath) != nil else {
                continue
            }
            found[ViewerWindow(id, owner.caller, name: owner.name, path: path)] = places
        }
        for window in Set(windows.keys).subtracting(found.keys) {
            windows[window] = nil
            onGone?(window)
        }
        for (window, places) in found.sorted(by: { ($0.key.path?.text ?? "") < ($1.key.path?.text ?? "") })
        where windows[window, default: FolderTabs()].take(places) { onChange?(window) }
    }

    func shown(in window: ViewerWindow) async -> ShownPlace? {
        windows[window]?.current.flatMap { ViewedPath(url: $0) }.map { .folder($0) }
    }
}
