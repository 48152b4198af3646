// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// What the broker reads from and keeps in `handoff.conf`.
@MainLoop
final class BrokerSettings {
    /// The user's switch.
    private(set) var isEnabled: Bool
    /// Whether offers are shown that nothing here can continue.
    let showsUnhandled: Bool
    private let path: String

    private static let group = "Handoff"

    init() throws {
        path = UserDirectories.handoffConfiguration
        let file = try KeyFile.load(path) ?? KeyFile()
        isEnabled = try file.boolean("Enabled", in: Self.group) ?? true
        showsUnhandled = try file.boolean("ShowUnhandledOffers", in: Self.group) ?? false
    }

    /// Keeps the switch. What else the file says stays as it is.
    func save(isEnabled: Bool) throws {
        let file = try KeyFile.load(path) ?? KeyFile()
        file.set("Enabled", in: Self.group, to: isEnabled)
        try file.save(to: path)
        self.isEnabled = isEnabled
    }
}
