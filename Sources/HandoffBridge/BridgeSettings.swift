// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import HandoffCore
internal import MainLoop

/// What the bridge reads from and keeps in `handoff.conf`.
@MainLoop
final class BridgeSettings {
    /// The name under which peers show this device.
    private(set) var deviceName: String
    /// The port to listen on, 0 for any.
    let port: UInt16
    private let path: String

    private enum Key {
        static let (device, name) = ("Device", "Name")
        static let (network, port) = ("Network", "Port")
        static let (broker, enabled) = ("Handoff", "Enabled")
    }

    /// Reads the file at `path`; an absent one says nothing.
    /// - Throws: ``StartFailure`` if it cannot be understood.
    init(_ path: String) throws {
        self.path = path
        let file = try KeyFile.load(path) ?? KeyFile()
        let name = PeerText.name(try file.string(Key.name, in: Key.device) ?? "")
        deviceName = name.isEmpty ? Self.machineName() : name
        let number = try file.integer(Key.port, in: Key.network) ?? 0
        guard let port = UInt16(exactly: number) else {
            throw StartFailure(
                "\(path), [\(Key.network)], \(Key.port): \(number) is not a port. Give 0 to 65535.")
        }
        self.port = port
    }

    /// The user's switch as the broker has left it, for when there is no broker to ask.
    var isEnabled: Bool {
        do {
            return try KeyFile.load(path)?.boolean(Key.enabled, in: Key.broker) ?? true
        } catch {
            bridgeLog.warning("Handoff counts as switched off: \(error)")
            return false
        }
    }

    /// Changes the name, also in the file; what else the file says stays.
    /// - Throws: if `name` is not legal or the file cannot be written; then nothing has changed.
    func setDeviceName(_ name: String) throws {
        guard !name.isEmpty, name == PeerText.name(name) else {
            throw HandoffFailure(
                .invalidArguments,
                "“\(PeerText.name(name))” cannot be the name of this device: it must have 1 to"
                    + " \(PeerText.maximumName) characters, no control characters, and no space at its ends.")
        }
        let file = try KeyFile.load(path) ?? KeyFile()
        file.set(Key.name, in: Key.device, to: name)
        try file.save(to: path)
        deviceName = name
    }

    private static func machineName() -> String {
        let pretty = PeerText.name(MachineInformation.value(of: "PRETTY_HOSTNAME") ?? "")
        if !pretty.isEmpty { return pretty }
        let host = PeerText.name(String(cString: g_get_host_name()))
        return host.isEmpty ? "Linux" : host
    }
}
