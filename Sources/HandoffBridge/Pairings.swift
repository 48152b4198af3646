// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// The dialogues in which devices are paired, one a link, and what became of them.
@MainLoop
final class Pairings {
    /// What is known of a device whose pairing has failed: without a link it would be gone, and the reason with it.
    struct Failure {
        let reason: String
        let addresses: [NetworkAddress]
        let forget: LoopSource
    }

    /// How long a failure is shown.
    private static let memory = Duration.seconds(300)
    /// Of how many devices; of more, none is kept.
    private static let maximumFailures = 16

    private let bridge: Bridge
    private var dialogues: [Int: PairingDialogue] = [:]
    private var failures: [DeviceID: Failure] = [:]
    /// The devices that are being connected to in order to pair.
    private var connecting: Set<DeviceID> = []
    /// How often others may still begin without being asked to.
    var budget = PairingBudget()

    init(_ bridge: Bridge) { self.bridge = bridge }

    /// Whether the user of this device is pairing: then somebody unknown may come.
    var isUnderWay: Bool { !connecting.isEmpty || dialogues.values.contains(where: \.isActive) }

    /// The dialogue that is under way with `device`.
    func active(_ device: DeviceID) -> PairingDialogue? {
        dialogues.values.first { $0.isActive && $0.link.device == device }
    }

    /// Why the last attempt with `device` has failed; nil if it has not.
    func failure(_ device: DeviceID) -> Failure? { failures[device] }

    /// What the user sees of pairing with `device`: the properties of those names.
    func shown(_ device: DeviceID) -> (state: String, code: String, error: String) {
        if let dialogue = active(device) { return (dialogue.stage.rawValue, dialogue.code, "") }
        let isConnecting = connecting.contains(device)
        let state = isConnecting ? Pairing.Stage.waiting : .none
        return (state.rawValue, "", isConnecting ? "" : failures[device]?.reason ?? "")
    }

    /// The dialogue over `link`.
    func dialogue(_ link: Link) -> PairingDialogue {
        if let known = dialogues[link.number] { return known }
        let new = PairingDialogue(link, as: bridge.identity.device, self)
        dialogues[link.number] = new
        return new
    }

    // MARK: The local user

    /// Begins pairing with `device`, or agrees to it; connects first if there is no link.
    func pair(_ device: DeviceID) throws {
        guard bridge.isOn else { throw HandoffFailure.switchedOff }
        guard bridge.trust[device] != nil || bridge.trust.entries.count < TrustStore.maximumPeers else {
            throw HandoffFailure(
                .limitsExceeded,
                "There are \(TrustStore.maximumPeers) peers already. Unpair one of them first.")
        }
        let addresses = bridge.devices.addresses(of: device)
        forgetFailure(device)
        if let dialogue = active(device) { return dialogue.pair() }
        if let link = bridge.links.current[device], !isSpent(link) { return dialogue(link).pair() }
        guard connecting.insert(device).inserted else { return }
        changed(device)
        MainLoop.start { [weak self] in await self?.connect(device, addresses) }
    }

    /// Whether the one attempt of this session is over.
    private func isSpent(_ link: Link) -> Bool { dialogues[link.number]?.isSpent == true }

    private func connect(_ device: DeviceID, _ addresses: [NetworkAddress]) async {
        var reason = "No address of it is known. Connect to it by its address first."
        for address in addresses {
            do {
                let found = try await bridge.dials.connect(address)
                guard found == device else {
                    reason = "At \(address) there is another device now."
                    continue
                }
                connecting.remove(device)
                guard let link = bridge.links.current[device], !isSpent(link) else { break }
                return dialogue(link).pair()
            } catch {
                reason = DBusError.converting(error).message
            }
        }
        connecting.remove(device)
        failed(device, reason)
        changed(device)
    }

    func confirm(_ device: DeviceID, _ matches: Bool) throws {
        guard let dialogue = active(device) else {
            throw HandoffFailure(.pairingFailed, "No code is being compared. Begin pairing first.")
        }
        try dialogue.confirm(matches)
    }

    func cancel(_ device: DeviceID) { active(device)?.cancel() }

    // MARK: What becomes of it

    func linkEnded(_ link: Link) { dialogues.removeValue(forKey: link.number)?.linkEnded() }

    /// The stage of pairing with `device` is another one.
    func changed(_ device: DeviceID) {
        bridge.devices.update(device)
        // Whom one pairs with one tells one's name.
        for link in bridge.links.all(with: device) { link.say(bridge.hello(for: device)) }
    }

    func failed(_ device: DeviceID, _ reason: String, over link: Link? = nil) {
        bridgeLog.message("Pairing with \(bridge.devices.name(of: device)) has failed: \(reason)")
        guard failures[device] != nil || failures.count < Self.maximumFailures else { return }
        var addresses = bridge.devices.addresses(of: device)
        if case .dialled(let address)? = link?.origin, !addresses.contains(address) { addresses.append(address) }
        failures[device] = Failure(
            reason: reason, addresses: addresses,
            forget: .timer(after: Self.memory) { [weak self] in
                self?.forgetFailure(device)
                self?.bridge.devices.update(device)
            })
    }

    private func forgetFailure(_ device: DeviceID) { failures.removeValue(forKey: device)?.forget.cancel() }

    /// Both users agree: the device at the other end of `link` is trusted, durably.
    /// - Throws: if that cannot be written; then it is not.
    func store(_ link: Link) throws {
        var entry = TrustEntry(link.device, source: .pairing, isMutual: true)
        if let said = link.received { (entry.name, entry.type) = (said.name, said.type) }
        for address in bridge.devices.addresses(of: link.device).reversed() { entry.remember(address) }
        try bridge.trust.put(entry)
    }

    func stored(_ link: Link) {
        budget.succeeded()
        bridgeLog.message("\(bridge.devices.name(of: link.device)) is paired with this device now.")
        bridge.trustBegan(link.device)
    }
}
