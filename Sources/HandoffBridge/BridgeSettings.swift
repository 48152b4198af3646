// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// The settings from `handoff.conf` that the bridge goes by. They are what the broker says, since it alone
/// writes that file; until a broker has said something, they are what the file says.
@MainLoop
final class BridgeSettings {
    /// The name under which peers show this device.
    private(set) var deviceName: String
    /// The port to listen on, 0 for any.
    private(set) var port: UInt16
    /// Whether what is offered is left with others before the machine sleeps; as long as a broker has not said, it is not asked.
    var parks = true
    /// Whether peers are told where they can reach this device from other networks.
    private(set) var sharesAddresses: Bool
    /// Whether peers are told of each other, and what they tell of theirs is shown.
    private(set) var introduces: Bool
    private let path: String

    /// Reads the file at `path`; an absent one says nothing.
    /// - Throws: ``StartFailure`` if it cannot be understood.
    init(_ path: String) throws {
        self.path = path
        let file = try KeyFile.settings(path)
        let name = PeerText.name(try file.string(.deviceName) ?? "")
        deviceName = name.isEmpty ? Self.machineName() : name
        let number = try file.integer(.port) ?? 0
        guard let port = UInt16(exactly: number) else {
            throw StartFailure(
                "\(path), \(ConfigurationKey.port.place): \(number) is not a port. Give 0 to 65535.")
        }
        self.port = port
        // Who has written something else than a truth there has hardly wanted that. The broker warns of it.
        sharesAddresses = (try? file.boolean(.sharesAddresses) ?? true) ?? false
        introduces = (try? file.boolean(.introduces) ?? true) ?? false
    }

    /// The user's switch as the broker has left it, for when there is no broker to ask.
    var isEnabled: Bool {
        do {
            return try KeyFile.settings(path).boolean(.enabled) ?? true
        } catch {
            bridgeLog.warning("Handoff counts as switched off: \(error)")
            return false
        }
    }

    /// Takes over the name that the user has chosen, empty for that of the machine.
    /// - Returns: whether the device has another name now.
    func take(deviceName chosen: String) -> Bool {
        let name = PeerText.name(chosen)
        let former = deviceName
        deviceName = name.isEmpty ? Self.machineName() : name
        return deviceName != former
    }

    /// Takes over the port that the user has chosen.
    /// - Returns: whether the port is another one now.
    func take(port chosen: UInt16) -> Bool {
        defer { port = chosen }
        return port != chosen
    }

    /// Takes over whether the user wants addresses to be shared.
    /// - Returns: whether that is another choice now.
    func take(sharesAddresses chosen: Bool) -> Bool {
        defer { sharesAddresses = chosen }
        return sharesAddresses != chosen
    }

    /// Takes over whether the user wants introductions.
    /// - Returns: whether that is another choice now.
    func take(introduces chosen: Bool) -> Bool {
        defer { introduces = chosen }
        return introduces != chosen
    }

    private static func machineName() -> String {
        let pretty = PeerText.name(MachineInformation.value(of: "PRETTY_HOSTNAME") ?? "")
        if !pretty.isEmpty { return pretty }
        let host = PeerText.name(String(cString: g_get_host_name()))
        return host.isEmpty ? "Linux" : host
    }
}
