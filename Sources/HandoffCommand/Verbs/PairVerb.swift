// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// `handoff pair`: pairs with a device by comparing a code.
struct PairVerb: Verb {
    static let name = "pair"
    static let arguments: String? = "[DEVICE | ADDRESS]"
    static let summary = "Pair with a device by comparing a code; without a name, wait for one to ask"

    private let device: String?

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        device = try values.arguments(0...1, "pair [DEVICE | ADDRESS]").first
    }

    func run(in session: Session) async throws -> Int32 {
        let bridge = try await session.bridge()
        let run = PairRun(bridge)
        let path = try await run.find(device)
        try await run.pair(path)
        return 0
    }
}

/// One pairing, as its user goes through it.
@MainLoop
private final class PairRun {
    private enum Event: Sendable {
        case changed
        case line(String?)
        case bridgeEnded
    }

    private let bridge: Session.Daemon
    private let events: AsyncStream<Event>
    private let feed: AsyncStream<Event>.Continuation
    private var tokens: [SignalToken] = []
    private var watch: NameWatch?
    private var input: DescriptorSource?
    private var typed: [UInt8] = []

    /// Longer than the bridge takes to give up.
    private static let timeout = Duration.seconds(60)

    init(_ bridge: Session.Daemon) {
        self.bridge = bridge
        (events, feed) = AsyncStream.makeStream()
        let (feed, name, connection) = (feed, bridge.name, bridge.bus.connection)
        for interface in [InterfaceName.properties, .objectManager] {
            tokens.append(
                connection.onSignal(interface) { if $0.sender == name { feed.yield(.changed) } })
        }
        watch = bridge.bus.watch(HandoffNames.bridge) { if $0 != name { feed.yield(.bridgeEnded) } }
        connection.onClosed = { _ in feed.yield(.bridgeEnded) }
    }

    /// The object of the device that `text` names, or of the first that asks.
    func find(_ text: String?) async throws -> ObjectPath {
        // From here on the bridge tells this connection of changes.
        let devices = try await bridge.devices()
        guard let text else { return try await firstThatAsks(devices) }
        if let device = try? devices.choose(text) { return device.path }
        if let device = try await bridge.nearby().choose(text) { return try await connect(device) }
        guard text.contains(":") else {
            throw CommandFailure(
                "There is no device \(text.quoted). Run “handoff pair” there, so that it can be found; or give its"
                    + " address, HOST:PORT.")
        }
        return try await bridge.bridge.connect(address: text, timeout: Self.timeout)
    }

    /// Connects to a device at the first of its addresses that it answers at.
    private func connect(_ device: NearbyDevice) async throws -> ObjectPath {
        var failure: any Error = CommandFailure("\(device.name.quoted) has no address. Try again.")
        for address in device.addresses {
            do {
                return try await bridge.bridge.connect(address: address, timeout: Self.timeout)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private func firstThatAsks(_ devices: [KnownDevice]) async throws -> ObjectPath {
        func asking(_ devices: [KnownDevice]) -> KnownDevice? { devices.first { $0.pairingState != "none" } }
        if let device = asking(devices) { return device.path }
        try await bridge.bridge.setDiscoverable(true)
        let port = try await bridge.bridge.port()
        let name = try await bridge.bridge.deviceName()
        Output.note(
            "For five minutes another device can be paired with this one: there, run “handoff pair \(name.shown)”,"
                + " or “handoff pair HOST:\(port)”, HOST being this machine's name or address.")
        for await event in events {
            if case .bridgeEnded = event { throw Self.ended }
            if let device = asking(try await bridge.devices()) { return device.path }
            guard try await bridge.bridge.discoverable() else {
                throw CommandFailure(
                    "No device has asked. Start this command again for another five minutes.")
            }
        }
        throw Self.ended
    }

    private static let ended = CommandFailure("The bridge has ended. Start this command again.")

    /// Pairs with the device at `path`, asking the user when the time has come.
    func pair(_ path: ObjectPath) async throws {
        let proxy = DeviceProxy(bridge.object(path))
        try await proxy.pair()
        var (hasAsked, hasBegun) = (false, false)
        feed.yield(.changed)
        for await event in events {
            switch event {
            case .bridgeEnded: throw Self.ended
            case .line(let text):
                let word = (text ?? "").lowercased().filter { !$0.isWhitespace }
                try await answer(proxy, ["y", "yes"].contains(word))
                if !["y", "yes"].contains(word) { throw CommandFailure("Not paired: you did not say yes.") }
            case .changed:
                let device = try await look(path)
                if device.pairingState != "none" { hasBegun = true }
                if device.pairingState == "comparing", !hasAsked {
                    hasAsked = true
                    ask(device)
                }
                guard device.pairingState == "none" else { continue }
                if !device.pairingError.isEmpty {
                    throw CommandFailure("Not paired: \(device.pairingError.shown)")
                }
                if device.isPaired, hasBegun {
                    return try Output.line("Paired with \(device.label.quoted), device \(device.id).")
                }
            }
        }
    }

    /// Tells the bridge what the user says.
    private func answer(_ proxy: DeviceProxy, _ matches: Bool) async throws {
        do {
            try await proxy.confirmPairing(matches: matches)
        } catch let error as DBusError where HandoffFailure.Code(error.name) == .pairingFailed {
            // It has just ended, as the device will show.
            feed.yield(.changed)
        }
    }

    private func look(_ path: ObjectPath) async throws -> KnownDevice {
        do {
            let properties = try await bridge.properties(DeviceProxy.interface, path)
            return KnownDevice(path, id: properties.text("DeviceId"), properties)
        } catch let error as DBusError where error.name == .unknownObject {
            throw CommandFailure("Not paired: the device is gone. Try again.")
        }
    }

    private func ask(_ device: KnownDevice) {
        Output.note(
            "\(device.label.quoted) (device \(device.id.prefix(8))) has to show the same code: \(device.pairingCode)"
        )
        Output.note("Does it? [y/N]")
        input = DescriptorSource(STDIN_FILENO, .readable) { [weak self] _ in self?.read() }
    }

    /// Reads until the end of the line, or of the input.
    private func read() {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
        if count > 0 { typed += buffer[..<count] }
        guard count <= 0 || typed.contains(UInt8(ascii: "\n")) || typed.count > 256 else { return }
        input?.cancel()
        input = nil
        feed.yield(.line(typed.isEmpty ? nil : String(decoding: typed.prefix { $0 != 10 }, as: UTF8.self)))
    }
}
