// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import MainLoop

/// KDE's viewer. Of several tabs of a process only the first can be asked.
struct Okular: ViewerLanguage {
    nonisolated let program = "okular"
    // The last part of a name is okular-PID, so what D-Bus calls its namespace is KDE's.
    nonisolated let names: (namespace: BusName, prefix: String) = ("org.kde", "org.kde.okular-")

    private static let interface: InterfaceName = "org.kde.okular"

    func document(of owner: BusName, on bus: Bus) async throws -> String {
        var reader = try await ask(owner, "currentDocument", output: "s", bus)
        return try reader.read(String.self)
    }

    func page(of owner: BusName, on bus: Bus) async throws -> PageNumber? {
        var reader = try await ask(owner, "currentPage", output: "u", bus)
        return PageNumber(Int64(try reader.read(UInt32.self)))
    }

    func turn(_ owner: BusName, to page: PageNumber, on bus: Bus) async throws -> Bool {
        _ = try await RemoteObject(bus.connection, owner, "/okular")
            .call(Self.interface, "goToPage", output: "", timeout: viewerPatience) {
                (writer) throws(DBusError) in
                try writer.write(UInt32(page.number))
            }
        try? RemoteObject(bus.connection, owner, "/okularshell").post(Self.interface, "tryRaise") {
            (_) throws(DBusError) in
        }
        return true
    }

    private func ask(
        _ owner: BusName, _ member: MemberName, output: String, _ bus: Bus
    ) async throws -> MessageReader {
        let reply = try await RemoteObject(bus.connection, owner, "/okular")
            .call(Self.interface, member, output: output, timeout: viewerPatience) {
                (_) throws(DBusError) in
            }
        return MessageReader(reply)
    }

    nonisolated func arguments(_ path: ViewedPath, _ page: PageNumber?) -> [String] {
        (page.map { ["--page", "\($0)"] } ?? []) + ["--", path.text]
    }
}
