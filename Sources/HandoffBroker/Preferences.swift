// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop
internal import Platform

/// What the user has chosen: the keys of `handoff.conf`, which the broker alone writes.
///
/// The file is read anew before each change, and what else stands in it stays as it is: a change of the user's own
/// hand is not undone.
@MainLoop
final class Preferences {
    /// The user's switch.
    private(set) var isEnabled = true
    /// Whether offers are shown that nothing here can continue.
    private(set) var showsUnhandled = false
    /// The name under which peers show this device; empty for that of the machine.
    private(set) var deviceName = ""
    /// The port on which peers reach this device; 0 for any.
    private(set) var port: UInt16 = 0
    private let path: String

    private enum Key {
        static let (handoff, enabled, showsUnhandled) = ("Handoff", "Enabled", "ShowUnhandledOffers")
        static let (device, name) = ("Device", "Name")
        static let (network, port) = ("Network", "Port")
    }

    /// What the file at `path` says; what it does not say has its default.
    /// - Throws: if the file, or a key that only the broker goes by, cannot be understood.
    init(_ path: String) throws {
        self.path = path
        let file = try KeyFile.load(path) ?? KeyFile()
        isEnabled = try file.boolean(Key.enabled, in: Key.handoff) ?? true
        showsUnhandled = try file.boolean(Key.showsUnhandled, in: Key.handoff) ?? false
        deviceName = PeerText.name((try? file.string(Key.name, in: Key.device)) ?? "")
        port = readPort(file)
    }

    /// One that is none counts as any: the bridge, which goes by it, says so.
    private func readPort(_ file: KeyFile) -> UInt16 {
        (try? file.integer(Key.port, in: Key.network)).flatMap { $0 }.flatMap { UInt16(exactly: $0) } ?? 0
    }

    // MARK: Changing

    // Each throws if the value is not legal or the file cannot be read or written; then nothing has changed.

    /// Keeps the switch.
    func setEnabled(_ isEnabled: Bool) throws {
        try change { $0.set(Key.enabled, in: Key.handoff, to: isEnabled) }
        self.isEnabled = isEnabled
    }

    /// Keeps whether offers are shown that nothing here can continue.
    func setShowsUnhandled(_ showsUnhandled: Bool) throws {
        try change { $0.set(Key.showsUnhandled, in: Key.handoff, to: showsUnhandled) }
        self.showsUnhandled = showsUnhandled
    }

    /// Keeps the name; empty takes it out of the file.
    func setDeviceName(_ name: String) throws {
        guard name == PeerText.name(name) else {
            throw HandoffFailure(
                .invalidArguments,
                "“\(PeerText.name(name))” cannot be the name of this device: it must have at most"
                    + " \(PeerText.maximumName) characters, no control characters, and no space at its ends. Give"
                    + " another one, or an empty one for the name of the machine.")
        }
        try change {
            if name.isEmpty {
                $0.removeKey(Key.name, in: Key.device)
            } else {
                $0.set(Key.name, in: Key.device, to: name)
            }
        }
        deviceName = name
    }

    /// Keeps the port; 0 takes it out of the file.
    func setPort(_ port: UInt16) throws {
        try change {
            if port == 0 {
                $0.removeKey(Key.port, in: Key.network)
            } else {
                $0.set(Key.port, in: Key.network, to: Int64(port))
            }
        }
        self.port = port
    }

    private func change(_ change: (KeyFile) -> Void) throws {
        let file = try KeyFile.load(path) ?? KeyFile()
        change(file)
        try file.save(to: SmallFile.target(of: path))
    }
}
