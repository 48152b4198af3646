// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import MainLoop

/// Zathura, which counts pages from 0.
struct Zathura: ViewerLanguage {
    nonisolated let program = "zathura"
    nonisolated let names: (namespace: BusName, prefix: String) = ("org.pwmt.zathura", "")

    private static let interface: InterfaceName = "org.pwmt.zathura"
    private static let path: ObjectPath = "/org/pwmt/zathura"

    func document(of owner: BusName, on bus: Bus) async throws -> String {
        try await RemoteObject(bus.connection, owner, Self.path)
            .property(Self.interface, "filename", timeout: viewerPatience)
    }

    func page(of owner: BusName, on bus: Bus) async throws -> PageNumber? {
        let index: UInt32 = try await RemoteObject(bus.connection, owner, Self.path)
            .property(Self.interface, "pagenumber", timeout: viewerPatience)
        return PageNumber(index: Int64(index))
    }

    func turn(_ owner: BusName, to page: PageNumber, on bus: Bus) async throws -> Bool {
        let reply = try await RemoteObject(bus.connection, owner, Self.path)
            .call(Self.interface, "GotoPage", output: "b", timeout: viewerPatience) {
                (writer) throws(DBusError) in
                try writer.write(UInt32(page.index))
            }
        var reader = MessageReader(reply)
        return try reader.read(Bool.self)
    }

    nonisolated func arguments(_ path: ViewedPath, _ page: PageNumber?) -> [String] {
        (page.map { ["--page=\($0)"] } ?? []) + ["--", path.text]
    }
}
