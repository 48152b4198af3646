// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop

/// Zathura. Each process has a bus name of its own, and one document.
@MainLoop
final class Zathura: DocumentViewer {
    nonisolated let id: ApplicationID
    nonisolated let program = "zathura"
    var onChange: (@MainLoop (ViewerWindow) -> Void)?
    var onGone: (@MainLoop (ViewerWindow) -> Void)?

    private let bus: Bus
    private var names: NamedOwners?
    private static let interface: InterfaceName = "org.pwmt.zathura"

    /// It as an application of the session that `bus` is of.
    init(_ bus: Bus, _ id: ApplicationID) { (self.bus, self.id) = (bus, id) }

    func begin() {
        guard names == nil else { return }
        let names = NamedOwners(bus, of: id, within: "org.pwmt.zathura") { [weak self] former, present in
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
        RemoteObject(bus.connection, window.owner, "/org/pwmt/zathura")
    }

    func shown(in window: ViewerWindow) async -> ShownPlace? {
        let name: String? = try? await document(window)
            .property(Self.interface, "filename", timeout: viewerPatience)
        return name.flatMap { ViewedPath($0) }.map { .document($0) }
    }

    func page(in window: ViewerWindow, of path: ViewedPath) async -> PageNumber? {
        let index: UInt32? = try? await document(window)
            .property(Self.interface, "pagenumber", timeout: viewerPatience)
        return index.flatMap { PageNumber(index: Int64($0)) }
    }

    func turn(_ window: ViewerWindow, to page: PageNumber) async -> Bool {
        let reply = try? await document(window)
            .call(Self.interface, "GotoPage", output: "b", timeout: viewerPatience) {
                (writer) throws(DBusError) in
                try writer.write(UInt32(page.index))
            }
        guard let reply else { return false }
        var reader = MessageReader(reply)
        return (try? reader.read(Bool.self)) ?? false
    }

    nonisolated func arguments(_ path: ViewedPath, _ page: PageNumber?) -> [String] {
        (page.map { ["--page=\($0)"] } ?? []) + ["--", path.text]
    }
}
