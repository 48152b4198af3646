// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop
internal import Platform

/// What the pairing dialogues need from their surroundings.
@MainLoop
protocol PairingsOwner: AnyObject {
    /// Whether a connection from the IP address `host` is accepted if its device shows no secret that is
    /// known here.
    func welcomesStranger(from host: String) -> Bool
    /// The established link with `device`.
    func link(with device: DeviceID) -> Link?
    /// Where `device` was reached, the latest first, and where it says it is.
    func knownAddresses(of device: DeviceID) -> [NetworkAddress]
    /// Whether somebody announces `address` as its own, or did a short time ago.
    func announces(_ address: NetworkAddress) -> Bool
    /// Makes a link with `device`, which is expected to answer at `address`.
    /// - Throws: why there is none, for people.
    func connect(to address: NetworkAddress, expecting device: DeviceID) async throws
    /// Trust in `device` has begun.
    func trustBegan(_ device: DeviceID)
    /// The stage of pairing with `device` has changed, and with it perhaps what is shown of the device, what
    /// it is told, and which strangers keep their place.
    func pairingChanged(_ device: DeviceID)
    /// What there is to show of `device` may have changed.
    func deviceChanged(_ device: DeviceID)
}

/// The dialogues in which devices are paired, one for each link, and what became of them.
@MainLoop
final class Pairings {
    /// What is known of a device whose pairing has failed: without a link the device would disappear, and the
    /// reason with it.
    private struct Failure {
        let reason: PairingFailure
        let addresses: [NetworkAddress]
        let time: Int64
        let forget: LoopSource
    }

    /// How long a failure is shown.
    private static let memory = Duration.seconds(300)
    /// For how many devices failures are remembered; if there are more, the oldest is forgotten.
    private static let maximumFailures = 16

    /// A device that is being connected to in order to pair.
    private struct Connecting {
        let addresses: [NetworkAddress]
        let task: Task<Void, Never>
    }

    private let state: BridgeState
    private let owner: any PairingsOwner
    private var dialogues: [Int: PairingDialogue] = [:]
    private var failures: [DeviceID: Failure] = [:]
    private var connecting: [DeviceID: Connecting] = [:]
    /// How often others may still begin pairing without having been asked to.
    var budget = PairingBudget()

    init(_ state: BridgeState, _ owner: any PairingsOwner) { (self.state, self.owner) = (state, owner) }

    /// Whether the user of this device is pairing with a device at `source`: then that device may also
    /// connect by itself, though it is still unknown.
    func isUnderWay(with source: String) -> Bool {
        dialogues.values.contains {
            $0.isActive && $0.isWanted && NetworkSource.name(of: $0.link.remoteHost) == source
        }
            || connecting.values.contains { connecting in
                connecting.addresses.contains { NetworkSource.name(of: $0.host) == source }
            }
    }

    /// Whether a dialogue is under way over `link`.
    func isUnderWay(over link: Link) -> Bool { dialogues[link.number]?.isActive == true }

    /// The dialogue that is under way with `device`.
    func active(_ device: DeviceID) -> PairingDialogue? {
        dialogues.values.first { $0.isActive && $0.link.device == device }
    }

    /// Whether there is something to show about pairing with `device`, even without a link.
    func concerns(_ device: DeviceID) -> Bool { failures[device] != nil || connecting[device] != nil }

    /// Where `device` was, or is being looked for.
    func addresses(of device: DeviceID) -> [NetworkAddress] {
        (failures[device]?.addresses ?? []) + (connecting[device]?.addresses ?? [])
    }

    /// What the user sees of pairing with `device`: the values of the properties for its state, whether it
    /// asks, its code and its error.
    func shown(_ device: DeviceID) -> (state: String, isAsked: Bool, code: String, error: ShownError) {
        if let dialogue = active(device) {
            return (dialogue.stage.rawValue, dialogue.isAsked, dialogue.code, .none)
        }
        let isConnecting = connecting[device] != nil
        let state = isConnecting ? Pairing.Stage.waiting : .none
        let failure = isConnecting ? nil : failures[device]?.reason
        return (state.rawValue, false, "", failure.map { ShownError($0) } ?? .none)
    }

    /// The dialogue over `link`.
    func dialogue(_ link: Link) -> PairingDialogue {
        if let known = dialogues[link.number] { return known }
        let new = PairingDialogue(link, as: state.ownID, self)
        dialogues[link.number] = new
        return new
    }

    /// The dialogue over `link`, as long as that is the current link with its device.
    /// - Throws: that another link is the current one.
    func currentDialogue(_ link: Link?) throws(HandoffFailure) -> PairingDialogue {
        guard let link, owner.link(with: link.device) === link else {
            throw HandoffFailure(.pairingFailed, "There is another link. Pair over that.")
        }
        return dialogue(link)
    }

    /// Whether this device takes part in a dialogue over `link`, which strangers that come later must not end. There
    /// are only as many of these as the user and the budget allow.
    func isAgreed(over link: Link) -> Bool { dialogues[link.number]?.isAgreed == true }

    /// Whether the one attempt that the session of `link` allows is under way on both sides.
    func isAnswered(over link: Link) -> Bool { dialogues[link.number]?.isAnswered == true }

    /// - Throws: why the device at the other end of `link` cannot begin pairing now: strangers are no longer
    ///   welcome, or there is no room for it.
    func check(_ link: Link) throws(HandoffFailure) {
        guard
            state.isTrusted(link.device) || link.isDialled || isUnderWay(over: link)
                || owner.welcomesStranger(from: link.remoteHost)
        else {
            throw HandoffFailure(
                .pairingFailed, "This device is not being paired. Have its user begin, and then try again.")
        }
        try state.trust.checkRoom(for: link.device)
    }

    // MARK: The local user

    /// Begins pairing with `device`, or agrees to pair; connects first if there is no link.
    func pair(_ device: DeviceID) throws {
        guard state.isOn else { throw HandoffFailure.disabled }
        try state.trust.checkRoom(for: device)
        if let dialogue = active(device) {
            forgetFailure(device)
            return dialogue.pair()
        }
        if let link = owner.link(with: device), !isSpent(link) {
            forgetFailure(device)
            return dialogue(link).pair()
        }
        connect(device, owner.knownAddresses(of: device), hasMoved: false)
    }

    /// Connects to `device` in order to pair.
    /// - Parameter hasMoved: whether a dialogue that the user began goes on there.
    private func connect(_ device: DeviceID, _ addresses: [NetworkAddress], hasMoved: Bool) {
        guard connecting[device] == nil else { return }
        connecting[device] = Connecting(
            addresses: addresses,
            task: MainLoop.start { [weak self] in await self?.connect(device, addresses, hasMoved) })
        forgetFailure(device)
        changed(device)
    }

    /// Whether the one attempt of this session is over.
    private func isSpent(_ link: Link) -> Bool { dialogues[link.number]?.isSpent == true }

    private func connect(_ device: DeviceID, _ addresses: [NetworkAddress], _ hasMoved: Bool) async {
        var reason = PairingFailure(
            .disconnected, "No address of it is known. Connect to it by its address first.")
        for address in addresses {
            do {
                try await owner.connect(to: address, expecting: device)
                if Task.isCancelled { return }
                connecting[device] = nil
                guard let link = owner.link(with: device) else {
                    reason = PairingFailure(
                        .disconnected, "The link was lost as soon as it was there. Try again.")
                    break
                }
                guard !isSpent(link) else {
                    reason = PairingFailure(
                        .refused,
                        "The link that there is has served for an attempt already. Try again in a moment.")
                    break
                }
                return dialogue(link).pair(hasMoved: hasMoved)
            } catch {
                // Whoever cancelled the attempt has already said so.
                if Task.isCancelled { return }
                reason = Self.failure(error)
            }
        }
        connecting[device] = nil
        failed(device, reason)
        changed(device)
    }

    /// Handoff was switched off: no device is being connected to any more.
    func stopConnecting() {
        for device in connecting.keys {
            stopConnecting(device, PairingFailure(.disabled, "Handoff was switched off."))
        }
    }

    /// Why a device was not connected to.
    private static func failure(_ error: any Error) -> PairingFailure {
        let message = DBusError.converting(error).message
        return switch (error as? HandoffFailure)?.code {
        case .disabled: PairingFailure(.disabled, message)
        case .connectionUnavailable, nil: PairingFailure(.disconnected, message)
        default: PairingFailure(.refused, message)
        }
    }

    private func stopConnecting(_ device: DeviceID, _ reason: PairingFailure) {
        guard let former = connecting.removeValue(forKey: device) else { return }
        former.task.cancel()
        failed(device, reason)
        changed(device)
    }

    func confirm(_ device: DeviceID, _ matches: Bool) throws {
        guard let dialogue = active(device) else {
            throw HandoffFailure(.pairingFailed, "No code is being compared. Begin pairing first.")
        }
        try dialogue.confirm(matches)
    }

    func cancel(_ device: DeviceID) {
        stopConnecting(device, PairingFailure(.ended, "The user has cancelled."))
        active(device)?.cancel()
    }

    // MARK: What becomes of it

    func linkEnded(_ link: Link) {
        guard let dialogue = dialogues.removeValue(forKey: link.number) else { return }
        // One of two links was dropped: the dialogue that the user began there begins anew on the other.
        if dialogue.canMove, let other = owner.link(with: link.device), !isSpent(other) {
            dialogue.abandon()
            return self.dialogue(other).pair(hasMoved: true)
        }
        // A device that has forgotten this one lets it in only to say so. The user who pairs just then wants a link that lasts.
        let (addresses, isForgotten) = (addresses(after: link), link.received?.isPaired == false)
        if isForgotten, dialogue.canMove, dialogue.isNew, state.isOn, connecting[link.device] == nil,
            !addresses.isEmpty
        {
            dialogue.abandon()
            return connect(link.device, addresses, hasMoved: true)
        }
        dialogue.linkEnded()
    }

    /// Where the device at the other end of a link that has ended may be.
    private func addresses(after link: Link) -> [NetworkAddress] {
        var addresses = owner.knownAddresses(of: link.device)
        if case .dialled(let address) = link.origin, !addresses.contains(address) {
            addresses.append(address)
        }
        return addresses
    }

    /// The stage of pairing with `device` has changed.
    func changed(_ device: DeviceID) { owner.pairingChanged(device) }

    /// An attempt has failed. The user is told if this device took part, by its user's will or its budget.
    func failed(
        _ device: DeviceID, _ reason: PairingFailure, over link: Link? = nil, tookPart: Bool = true
    ) {
        let text = "Pairing with \(state.label(of: device)) has failed: \(reason.message)"
        // What strangers do by themselves does not concern the user.
        guard tookPart else { return state.refusals.note(text) }
        bridgeLog.message(text)
        let addresses = link.map(addresses(after:)) ?? owner.knownAddresses(of: device)
        if failures.count >= Self.maximumFailures,
            let oldest = failures.min(by: { $0.value.time < $1.value.time })
        {
            forgetFailure(oldest.key)
            owner.deviceChanged(oldest.key)
        }
        failures[device] = Failure(
            reason: reason, addresses: addresses, time: MainLoop.now,
            forget: .timer(after: Self.memory) { [weak self] in
                self?.forgetFailure(device)
                self?.owner.deviceChanged(device)
            })
    }

    private func forgetFailure(_ device: DeviceID) { failures.removeValue(forKey: device)?.forget.cancel() }

    /// Both users agree: makes the device at the other end of `link` trusted, with the secret that this link
    /// gives to both its ends, and saves that.
    /// - Throws: if that cannot be saved; then the device is not trusted.
    func store(_ link: Link) throws {
        var entry = TrustEntry(
            link.device, source: .pairing, isMutual: true, secret: link.secret,
            secretSince: MainLoop.wallClock)
        if let said = link.received { (entry.name, entry.type) = (said.name, said.type) }
        for address in owner.knownAddresses(of: link.device).reversed()
        where !owner.announces(address) { entry.remember(address) }
        try state.trust.pair(entry)
    }

    func stored(_ link: Link) {
        budget.succeeded()
        forgetFailure(link.device)
        link.awaitsTrust = link.received?.isPaired != true
        bridgeLog.message("\(state.label(of: link.device)) is paired with this device now.")
        owner.trustBegan(link.device)
    }
}
