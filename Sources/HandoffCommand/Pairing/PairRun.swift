// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop

/// One pairing, as the user goes through it.
@MainLoop
final class PairRun {
    private enum Event: Sendable {
        case changed
        case line(String?)
        case bridgeEnded
        case unread
    }

    private let bridge: Daemon
    private let printsJSON: Bool
    private let events: AsyncStream<Event>
    private let feed: AsyncStream<Event>.Continuation
    private let keyboard: Keyboard
    private var tokens: [SignalToken] = []
    private var watch: NameWatch?
    /// Whether this run has made the device discoverable, and has to end that.
    private var hasMadeDiscoverable = false
    /// The device to pair with, while that is under way.
    private var current: ObjectPath?

    /// How long to wait for the bridge: longer than it takes to give up.
    private static let timeout = Duration.seconds(60)
    /// How long the bridge may take to end what was begun.
    private static let patience = Duration.seconds(2)
    /// How many devices are listed at most, whoever comes and goes nearby.
    private static let mostListed = 64

    private static let ended = CommandFailure("The bridge has ended. Start this command again.", .notRunning)
    /// The user has ended the pairing, or nobody can see any longer what it prints.
    static let interrupted = CommandFailure("Interrupted: the pairing is given up.")

    init(_ bridge: Daemon, printsJSON: Bool) {
        self.bridge = bridge
        self.printsJSON = printsJSON
        (events, feed) = AsyncStream.makeStream()
        let (feed, name, connection) = (feed, bridge.name, bridge.bus.connection)
        keyboard = Keyboard { feed.yield(.line($0)) }
        for interface in [InterfaceName.properties, .objectManager] {
            tokens.append(
                connection.onSignal(interface) { if $0.sender == name { feed.yield(.changed) } })
        }
        watch = bridge.bus.watch(HandoffNames.bridge) { if $0 != name { feed.yield(.bridgeEnded) } }
        connection.onClosed = { _ in feed.yield(.bridgeEnded) }
    }

    /// Pairs with the device that `text` names, or with the one that the user chooses from those that are
    /// there.
    func pair(with text: String?) async throws {
        // From here on, the bridge tells this connection of changes.
        let devices = try await bridge.devices()
        if let text {
            try await pair(try await find(text, devices))
        } else {
            try await pair(try await chosen())
        }
    }

    /// Ends what was begun: the attempt, if there is one, and the discoverability of this device.
    func end() async {
        if let current {
            try? await DeviceProxy(bridge.object(current)).cancelPairing(timeout: Self.patience)
        }
        guard hasMadeDiscoverable else { return }
        hasMadeDiscoverable = false
        try? await bridge.bridge.setDiscoverable(false)
    }

    /// Tells the user something.
    private func tell(_ text: String) {
        if !Output.error(text + "\n") { feed.yield(.unread) }
    }

    // MARK: Which device

    private func find(_ text: String, _ devices: [KnownDevice]) async throws -> ObjectPath {
        let candidates = PairingCandidates(named: text, devices, try await bridge.nearby())
        if candidates.all.count > 1 { throw Self.unnamed(candidates) }
        if let candidate = candidates.all.first { return try await path(of: candidate) }
        guard text.contains(":") else {
            throw CommandFailure(
                "There is no device \(text.quoted). Run “handoff pair” there, so that it can be found; or give its"
                    + " address, HOST:PORT.", .notFound)
        }
        return try await bridge.bridge.connect(address: text, timeout: Self.timeout)
    }

    /// Connects to a device at the first of its addresses where it answers.
    private func connect(_ device: NearbyDevice) async throws -> ObjectPath {
        var failure: any Error = CommandFailure(
            "\(device.label.quoted) has no address. Try again.", .notFound)
        for address in device.addresses {
            do {
                return try await bridge.bridge.connect(address: address, timeout: Self.timeout)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// Makes this device discoverable, and waits until another device asks while it is the only one there, or
    /// until the user has chosen one.
    private func chosen() async throws -> ObjectPath {
        try await beFound()
        if let other = try await bridge.nearby().onlyOne {
            tell(
                "Nearby at \(other.places): \(other.label.quoted). “handoff pair” with that address asks it.")
        }
        // Each device keeps its number: what is typed must not refer to another device that has come in the
        // meantime.
        var listed: [PairingCandidate] = []
        var canType = true
        feed.yield(.changed)
        for await event in events {
            let candidates = PairingCandidates(try await bridge.devices(), try await bridge.nearby())
            switch event {
            case .bridgeEnded: throw Self.ended
            case .unread: throw Self.interrupted
            case .line(let text):
                canType = text != nil
                if let path = try await chosen(text, listed, candidates) { return path }
            case .changed:
                if listed.isEmpty, let device = candidates.only {
                    tell("Device \(device.id.prefix(ShortIDs.minimum)) asks to be paired.")
                    return device.path
                }
                list(candidates, &listed)
            }
            if !canType, candidates.isAsked { throw Self.unnamed(candidates) }
            if canType, !listed.isEmpty { keyboard.readLine() }
            guard try await bridge.bridge.discoverable() else {
                throw CommandFailure(
                    "No device has asked. Start this command again for another five minutes.", .timedOut)
            }
        }
        throw Self.ended
    }

    private func beFound() async throws {
        if try await !bridge.bridge.discoverable() { hasMadeDiscoverable = true }
        try await bridge.bridge.setDiscoverable(true)
        let port = try await bridge.bridge.port()
        let name = try await bridge.bridge.deviceName()
        Output.note(
            "For five minutes another device can be paired with this one: there, run “handoff pair"
                + " \(ChosenText(name: name).shown)”, or “handoff pair HOST:\(port)”, HOST being this machine's name or"
                + " address.")
    }

    /// Shows the candidates that were not there before, or did not ask before, each with the number by which
    /// it can be chosen.
    private func list(_ candidates: PairingCandidates, _ listed: inout [PairingCandidate]) {
        guard candidates.all.count > 1 || !listed.isEmpty else { return }
        var lines = listed.isEmpty ? ["More than one device is there:"] : []
        for candidate in candidates.all {
            let known = listed.firstIndex { $0.key == candidate.key }
            if let known, listed[known].asks || !candidate.asks { continue }
            guard known != nil || listed.count < Self.mostListed else { continue }
            if let known { listed[known] = candidate } else { listed.append(candidate) }
            lines.append("  \((known ?? listed.count - 1) + 1)  \(candidate.line)")
        }
        if lines.isEmpty { return }
        tell(
            lines.joined(separator: "\n")
                + "\nType the number of the one that is to be paired, or wait for another.")
    }

    /// The candidate whose number is `text`; nil if there is none.
    private func chosen(
        _ text: String?, _ listed: [PairingCandidate], _ candidates: PairingCandidates
    ) async throws -> ObjectPath? {
        guard let text = text?.filter({ !$0.isWhitespace }), !text.isEmpty else { return nil }
        guard let number = Int(text), listed.indices.contains(number - 1) else {
            tell("\(text.quoted) is not one of the numbers.")
            return nil
        }
        let key = listed[number - 1].key
        guard let candidate = candidates.all.first(where: { $0.key == key }) else {
            tell("That one is not there any more.")
            return nil
        }
        return try await path(of: candidate)
    }

    private func path(of candidate: PairingCandidate) async throws -> ObjectPath {
        switch candidate {
        case .asking(let device), .known(let device): device.path
        case .nearby(let device): try await connect(device)
        }
    }

    private static func unnamed(_ candidates: PairingCandidates) -> CommandFailure {
        .ambiguous(
            "Say which of these to pair with, by its id or address:\n"
                + candidates.all.map { "  " + $0.line }.joined(separator: "\n"))
    }

    // MARK: Pairing

    /// Pairs with the device at `path`, and asks the user when it is time to.
    private func pair(_ path: ObjectPath) async throws {
        let proxy = DeviceProxy(bridge.object(path))
        current = path
        try await proxy.pair()
        var (hasAsked, hasBegun) = (false, false)
        feed.yield(.changed)
        for await event in events {
            switch event {
            case .bridgeEnded: throw Self.ended
            case .unread: throw Self.interrupted
            case .line(let text):
                if hasAsked { try await answer(proxy, text) }
            case .changed:
                let device = try await look(path)
                if device.pairingState != "none" { hasBegun = true }
                if device.pairingState == "comparing", !hasAsked {
                    hasAsked = true
                    ask(device)
                }
                guard device.pairingState == "none" else { continue }
                if !device.pairingError.isEmpty {
                    // The words may be those of the device.
                    throw CommandFailure(
                        "Not paired: \(ChosenText(message: device.pairingError).quoted)",
                        errorName: device.pairingErrorName)
                }
                if device.isPaired, hasBegun {
                    current = nil
                    if printsJSON { return try Output.json(device.json) }
                    return try Output.line("Paired with device \(device.id)\(device.callsItself).")
                }
            }
        }
    }

    /// Tells the bridge what the user says.
    /// - Throws: a failure if that was not yes.
    private func answer(_ proxy: DeviceProxy, _ text: String?) async throws {
        let matches = ["y", "yes"].contains((text ?? "").lowercased().filter { !$0.isWhitespace })
        do {
            try await proxy.confirmPairing(matches: matches)
        } catch let error as DBusError where HandoffFailure.Code(error.name) == .pairingFailed {
            // The comparison has just ended, as the device will show.
            feed.yield(.changed)
        }
        // Where the input has ended, nobody has said no.
        let kind = text == nil ? FailureKind.failed : .refused
        if !matches { throw CommandFailure("Not paired: you did not say yes.", kind) }
    }

    private func look(_ path: ObjectPath) async throws -> KnownDevice {
        do {
            let properties = try await bridge.properties(DeviceProxy.interface, path)
            return KnownDevice(path, id: properties.text("DeviceId"), properties)
        } catch let error as DBusError where error.name == .unknownObject {
            throw CommandFailure("Not paired: the device is gone. Try again.", .notFound)
        }
    }

    /// The code comes first and alone, because what the other device calls itself could look like another
    /// code.
    private func ask(_ device: KnownDevice) {
        tell(
            """
            \(device.pairingCode)
            The other device has to show this code. Its id begins with \(device.id.prefix(ShortIDs.minimum)), and it calls itself
            \(device.label.quoted)
            Are the two codes the same? [y/N]
            """)
        keyboard.readLine()
    }
}
