// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

// This file is long because looking for a device and pairing with it take turns with the same events and the same keyboard.

/// One pairing, as the user goes through it.
@MainLoop
final class PairRun {
    private enum Event: Sendable {
        case changed
        case line(String?)
        case bridgeEnded
        case unread
    }

    /// What becomes of the device that is meant.
    private enum Meant {
        /// It is paired by comparing digits.
        case paired(ObjectPath)
        /// Its introduction is accepted.
        case accepted(KnownDevice)
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

    /// How long a device is looked for that is not there yet.
    private static let lookingTime = Duration.seconds(5)
    /// How long the bridge may take to end what was begun.
    private static let patience = Duration.seconds(2)
    /// How many devices are listed at most, whoever comes and goes nearby.
    private static let mostListed = 64

    private static let ended = CommandFailure(
        tr("The bridge has ended. Start this command again."), .notRunning)
    /// The user has ended the pairing, or nobody can see any longer what it prints.
    static let interrupted = CommandFailure(tr("Interrupted: the pairing is given up."))

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
        do {
            // From here on, the bridge tells this connection of changes.
            _ = try await bridge.devices()
            let meant = if let text { try await find(text) } else { try await chosen() }
            switch meant {
            case .paired(let path): try await pair(path)
            case .accepted(let device): try await accept(device)
            }
        } catch let error as DBusError where error.name == .serviceUnknown {
            throw Self.ended
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

    /// The device that `text` names. One that has just let itself be found, perhaps at another place than before, takes a moment
    /// to be seen.
    private func find(_ text: String) async throws -> Meant {
        var failure: (any Error)?
        // Where it was looked for in vain.
        var tried: Set<String> = []
        var timer: LoopSource?
        var isOver = false
        defer { timer?.cancel() }
        feed.yield(.changed)
        for await event in events {
            switch event {
            case .bridgeEnded: throw Self.ended
            case .unread: throw Self.interrupted
            case .line: continue
            case .changed: break
            }
            let candidates = PairingCandidates(
                named: text, try await bridge.devices(), try await bridge.nearby())
            if candidates.all.count > 1 { throw Self.unnamed(candidates) }
            do {
                if let candidate = candidates.all.first, tried.insert(candidate.key).inserted {
                    return try await meant(candidate)
                }
                if text.contains(":") { return .paired(try await bridge.connect(to: text)) }
            } catch let error as DBusError
                where HandoffFailure.Code(error.name) == .connectionUnavailable && !text.contains(":")
            {
                failure = error
            }
            if isOver { break }
            guard timer == nil else { continue }
            Output.note(tr("Looking for “{device}”…", ["device": text.shown]))
            timer = .timer(after: Self.lookingTime) { [feed] in
                isOver = true
                feed.yield(.changed)
            }
        }
        if let failure { throw failure }
        throw CommandFailure.noDevice(text, try await undiscovered())
    }

    /// Why devices are not found by themselves; nil if they are.
    private func undiscovered() async throws -> FailureText? {
        let message = try await bridge.bridge.discoveryError()
        return message.isEmpty ? nil : .discovery(try await bridge.bridge.discoveryErrorName(), message)
    }

    /// Connects to a device at the first of its addresses where it answers.
    private func connect(_ device: NearbyDevice) async throws -> ObjectPath {
        var failure: any Error = CommandFailure(
            tr("“{device}” has no address. Try again.", ["device": device.label.shown]), .notFound)
        for address in device.addresses {
            do {
                return try await bridge.connect(to: address)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// Makes this device discoverable, and waits until another device asks while it is the only one there, or
    /// until the user has chosen one.
    private func chosen() async throws -> Meant {
        try await beFound()
        if let other = try await bridge.nearby().onlyOne {
            tell(
                tr(
                    "Nearby at {places}: “{device}”. “handoff pair” with that address asks it.",
                    ["places": other.places, "device": other.label.shown]))
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
                if let meant = try await chosen(text, listed, candidates) { return meant }
            case .changed:
                if listed.isEmpty, let device = candidates.only {
                    tell(
                        tr(
                            "Device {id} asks to be paired.",
                            ["id": String(device.id.prefix(ShortIDs.minimum))]))
                    return .paired(device.path)
                }
                list(candidates, &listed)
            }
            if !canType, candidates.isAsked { throw Self.unnamed(candidates) }
            if canType, !listed.isEmpty { keyboard.readLine() }
            guard try await bridge.bridge.discoverable() else {
                throw CommandFailure(
                    tr("No device has asked. Start this command again for another five minutes."), .timedOut)
            }
        }
        throw Self.ended
    }

    private func beFound() async throws {
        if try await !bridge.bridge.discoverable() { hasMadeDiscoverable = true }
        try await bridge.bridge.setDiscoverable(true)
        let port = try await bridge.bridge.port()
        guard port != 0 else { throw HandoffFailure.disabled }
        let name = try await bridge.bridge.deviceName()
        Output.note(
            tr(
                "For five minutes another device can be paired with this one: there, run “handoff pair {name}”, or"
                    + " “handoff pair HOST:{port}”, HOST being this machine's name or address.",
                ["name": Self.word(ChosenText(name: name).shown), "port": "\(port)"]))
        guard let reason = try await undiscovered() else { return }
        Output.note(
            tr("Devices are not found automatically: {reason}", ["reason": reason.summary]) + " "
                + tr("Only the address works for now, until avahi-daemon is installed and started."))
    }

    /// `text` as one word for a shell.
    private static func word(_ text: String) -> String {
        let isWord = text.allSatisfy { $0.isLetter || $0.isNumber || "-_.".contains($0) }
        guard !isWord, let quoted = g_shell_quote(text) else { return text }
        defer { g_free(quoted) }
        return String(cString: quoted)
    }

    /// Shows the candidates that were not there before, or did not ask before, each with the number by which
    /// it can be chosen.
    private func list(_ candidates: PairingCandidates, _ listed: inout [PairingCandidate]) {
        guard candidates.all.count > 1 || !listed.isEmpty else { return }
        var lines = listed.isEmpty ? [tr("There is more than one device:")] : []
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
                + "\n" + tr("Type the number of the device to pair with, or wait for another."))
    }

    /// The candidate whose number is `text`; nil if there is none.
    private func chosen(
        _ text: String?, _ listed: [PairingCandidate], _ candidates: PairingCandidates
    ) async throws -> Meant? {
        guard let text = text?.filter({ !$0.isWhitespace }), !text.isEmpty else { return nil }
        guard let number = Int(text), listed.indices.contains(number - 1) else {
            tell(tr("“{text}” is not one of the numbers.", ["text": text.shown]))
            return nil
        }
        let key = listed[number - 1].key
        guard let candidate = candidates.all.first(where: { $0.key == key }) else {
            tell(tr("That device is not there any more."))
            return nil
        }
        return try await meant(candidate)
    }

    private func meant(_ candidate: PairingCandidate) async throws -> Meant {
        switch candidate {
        case .asking(let device), .known(let device): .paired(device.path)
        case .introduced(let device): .accepted(device)
        case .nearby(let device): .paired(try await connect(device))
        }
    }

    private static func unnamed(_ candidates: PairingCandidates) -> CommandFailure {
        .ambiguous(
            tr("Say which of these to pair with, by its id or address:") + "\n"
                + candidates.all.map { "  " + $0.line }.joined(separator: "\n"))
    }

    // MARK: Pairing

    /// Pairs with the device at `path`, and asks the user when it is time to.
    private func pair(_ path: ObjectPath) async throws {
        let proxy = DeviceProxy(bridge.object(path))
        let device = try await look(path)
        if device.isPaired, device.isConnected {
            Output.note(
                tr(
                    "“{device}” is paired with this device already. The two are paired again; interrupt this"
                        + " to leave the pairing as it is.",
                    ["device": device.label.shown]))
        }
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
                        tr(
                            "Not paired: “{reason}”",
                            ["reason": ChosenText(message: device.pairingError).shown]),
                        errorName: device.pairingErrorName)
                }
                if device.isPaired, hasBegun {
                    current = nil
                    if printsJSON { return try Output.json(device.json) }
                    return try Output.line(Self.success(device))
                }
            }
        }
    }

    /// Accepts the introduction of `device`, and says what is left to be done.
    private func accept(_ device: KnownDevice) async throws {
        let introducers = try await bridge.devices().names(of: device.introducedBy)
        try await DeviceProxy(bridge.object(device.path)).acceptIntroduction()
        if printsJSON { return try Output.json(try await look(device.path).json) }
        try Output.line(
            tr(
                "“{device}” is accepted here, because it is introduced by {devices}. Accept this device there,"
                    + " too; then they are paired.", ["device": device.label.shown, "devices": introducers]))
    }

    private static func success(_ device: KnownDevice) -> String {
        if device.name.isEmpty { return tr("Paired with device {id}.", ["id": device.id]) }
        return tr(
            "Paired with device {id}, which calls itself “{device}”.",
            ["id": device.id, "device": device.label.shown])
    }

    /// Tells the bridge what the user says.
    /// - Throws: a failure if that was not yes.
    private func answer(_ proxy: DeviceProxy, _ text: String?) async throws {
        // A slip of the finger would alarm the other side's user.
        guard let matches = TypedAnswer.agrees(text) else {
            tell(tr("Type “y” if both show the same digits, and “n” if they do not."))
            return keyboard.readLine()
        }
        do {
            try await proxy.confirmPairing(matches: matches)
        } catch let error as DBusError where HandoffFailure.Code(error.name) == .pairingFailed {
            // The comparison has just ended, as the device will show.
            feed.yield(.changed)
        }
        // Where the input has ended, nobody has said no.
        let kind = text == nil ? FailureKind.failed : .refused
        if !matches { throw CommandFailure(tr("Not paired: you did not say yes."), kind) }
    }

    private func look(_ path: ObjectPath) async throws -> KnownDevice {
        do {
            let properties = try await bridge.properties(DeviceProxy.interface, path)
            return KnownDevice(path, id: properties.text("DeviceId"), properties)
        } catch let error as DBusError where error.name == .unknownObject {
            throw CommandFailure(tr("Not paired: the device is gone. Try again."), .notFound)
        }
    }

    /// The code comes first and alone, because what the other device calls itself could look like another
    /// code.
    private func ask(_ device: KnownDevice) {
        tell(
            tr(
                "{code}\nThe other device has to show these digits. Its id begins with {id}, and it calls itself\n“{device}”"
                    + "\nDo both show the same digits? [y/N]",
                [
                    "code": device.pairingCode, "id": String(device.id.prefix(ShortIDs.minimum)),
                    "device": device.label.shown,
                ]))
        keyboard.readLine()
    }
}
