// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop

/// KDE's viewer. Each process has a bus name of its own; of several tabs only the first can be asked.
@MainLoop
final class Okular: DocumentViewer {
    nonisolated let id: ApplicationID
    nonisolated let program = "okular"
    var onChange: (@MainLoop (ViewerWindow) -> Void)?
    var onGone: (@MainLoop (ViewerWindow) -> Void)?

    private let bus: Bus
    private var names: NamedOwners?
    private static let interface: InterfaceName = "org.kde.okular"

    /// It as an application of the session that `bus` is of.
    init(_ bus: Bus, _ id: ApplicationID) { (self.bus, self.id) = (bus, id) }

    func begin() {
        guard names == nil else { return }
        // The last part of the name is okular-PID, so what D-Bus calls its namespace is KDE's.
        let names = NamedOwners(bus, of: id, within: "org.kde", beginning: "org.kde.okular-") {
            [weak self] former, present in
            guard let self else { return }
            if let former { onGone?(ViewerWindow(id, former.caller, name: former.name)) }
            if let present { onChange?(ViewerWindow(id, present.caller, name: present.name)) }
        }
        self.names = names
        names.begin()
    }

    func end() {
        names?.end()
        names = nil
    }

    private func document(_ window: ViewerWindow) -> RemoteObject {
        RemoteObject(bus.connection, window.owner, "/okular")
    }

    func shown(in window: ViewerWindow) async -> ShownPlace? {
        let reply = try? await document(window)
            .call(Self.interface, "currentDocument", output: "s", timeout: viewerPatience) {
                (_) throws(DBusError) in
            }
        guard let reply else { return nil }
        var reader = MessageReader(reply)
        return (try? reader.read(String.self)).flatMap { ViewedPath($0) }.map { .document($0) }
    }

    func page(in window: ViewerWindow, of path: ViewedPath) async -> PageNumber? {
        let reply = try? await document(window)
            .call(Self.interface, "currentPage", output: "u", timeout: viewerPatience) {
                (_) throws(DBusError) in
            }
        guard let reply else { return nil }
        var reader = MessageReader(reply)
        return (try? reader.read(UInt32.self)).flatMap { PageNumber(Int64($0)) }
    }

    func turn(_ window: ViewerWindow, to page: PageNumber) async -> Bool {
        let reply = try? await document(window)
            .call(Self.interface, "goToPage", output: "", timeout: viewerPatience) {
                (writer) throws(DBusError) in
                try writer.write(UInt32(page.number))
            }
        guard reply != nil else { return false }
        try? RemoteObject(bus.connection, window.owner, "/okularshell").post(Self.interface, "tryRaise") {
            (_) throws(DBusError) in
        }
        return true
    }

    nonisolated func arguments(_ path: ViewedPath, _ page: PageNumber?) -> [String] {
        (page.map { ["--page", "\($0)"] } ?? []) + ["--", path.text]
    }
}
