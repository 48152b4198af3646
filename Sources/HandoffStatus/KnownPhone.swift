// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
package import HandoffClient
package import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// A telephone that another program of this session reaches, and that what is current here can be sent to.
package struct KnownPhone: Hashable, Sendable {
    /// What the broker calls it.
    package let id: String
    /// What it is called, as it came; see ``label``.
    package let name: String

    /// The telephone that a broker calls `id`.
    package init(id: String, name: String) { (self.id, self.name) = (id, name) }

    /// What it is called, fit to be shown.
    package var label: ChosenText { ChosenText(name: name) }
    /// What stands for it where devices stand by their ids, which have no `/`.
    package var target: String { Self.prefix + id }

    private static let prefix = "phone/"

    /// The telephone that `target` stands for, among these if it is still there; nil if it stands for a device.
    package static func meant(by target: String, among phones: [KnownPhone]) -> KnownPhone? {
        guard target.hasPrefix(prefix) else { return nil }
        return phones.first { $0.target == target }
            ?? KnownPhone(id: String(target.dropFirst(prefix.count)), name: "")
    }

    /// The telephones that `value` lists, `Phones` of a broker.
    static func all(in value: Value?) -> [KnownPhone] {
        Value.propertyList(value).map { KnownPhone(id: $0.text("Id"), name: $0.text("Name")) }
            .filter { !$0.id.isEmpty }
    }

    /// The telephones that `broker` lists now.
    @MainLoop
    package static func all(at broker: Daemon) async throws -> [KnownPhone] {
        all(in: try await broker.properties(PhonesProxy.interface, HandoffNames.brokerPath)["Phones"])
    }

    /// Sends it what is current at `broker`.
    @MainLoop
    package func send(by broker: Daemon) async throws {
        try await PhonesProxy(broker.object(HandoffNames.brokerPath)).send(
            phoneId: id, timeout: Self.patience)
    }

    /// Longer than an application may take to save, and whoever reaches the telephone to take it.
    private static let patience = Duration.seconds(20)
}
