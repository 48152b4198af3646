// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus

extension Bus {
    /// The names whose owners the bus can start.
    package func activatableNames() async throws -> [String] { try await list("ListActivatableNames") }

    /// The names that have an owner.
    package func names() async throws -> [String] { try await list("ListNames") }

    private func list(_ member: MemberName) async throws -> [String] {
        let daemon = RemoteObject(connection, "org.freedesktop.DBus", "/org/freedesktop/DBus")
        let reply = try await daemon.call(.bus, member, output: "as") { _ in }
        var reader = MessageReader(reply)
        return try reader.read([String].self)
    }
}
