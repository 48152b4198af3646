// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What showing devices needs from its surroundings.
@MainLoop
protocol DevicesOwner: DeviceObjectOwner {
    /// The established link with `device`.
    func link(with device: DeviceID) -> Link?
    /// Whether there is something to show about pairing with `device`, even without a link.
    func concernsPairing(_ device: DeviceID) -> Bool
    /// What the user sees of pairing with `device`: the values of the properties for its state, whether it
    /// asks, its code and its error.
    func shownPairing(of device: DeviceID) -> (state: String, isAsked: Bool, code: String, error: ShownError)
    /// Where `device` was, or is being looked for, in order to be paired.
    func pairingAddresses(of device: DeviceID) -> [NetworkAddress]
    /// Where `device` announces that it is.
    func announcedAddresses(of device: DeviceID) -> [NetworkAddress]
    /// Since when `device` sleeps, by the wall clock, if it has left something here; otherwise 0.
    func asleepSince(_ device: DeviceID) -> Int64
    /// Why `device` was not reached at the last attempt; nil if it was.
    func dialError(of device: DeviceID) -> ShownError?
    /// Whether something is being sent to `device`, and why it did not take what was sent last.
    func sending(to device: DeviceID) -> (isUnderWay: Bool, error: ShownError)
    /// What was sent to `device` while it was away, and waits for it.
    func waiting(for device: DeviceID) -> [[String: Value]]
    /// Who introduces `device`, and what has become of that.
    func introduction(of device: DeviceID) -> Introductions.Shown
    /// What serves the broker's calls to `device`.
    func peerServer(for device: DeviceID) -> any PeerServer
}

/// The objects of the devices that are trusted, linked or introduced.
@MainLoop
final class Devices {
    private let state: BridgeState
    private let owner: any DevicesOwner
    private let tree: ObjectTree
    private var objects: [DeviceID: DeviceObject] = [:]

    /// The objects are exported in `tree`.
    init(_ state: BridgeState, _ owner: any DevicesOwner, in tree: ObjectTree) {
        (self.state, self.owner, self.tree) = (state, owner, tree)
    }

    /// What the bus is shown of `device`; nil if the device is not shown.
    func state(of device: DeviceID) -> DeviceObject.State? { objects[device]?.state }

    /// The object of `device`.
    func path(of device: DeviceID) throws -> ObjectPath {
        try HandoffNames.devices.appending(device.description)
    }

    /// Shows `device` as it is now, or stops showing it.
    func update(_ device: DeviceID) {
        let (entry, link) = (state.trust[device], owner.link(with: device))
        let introduction = owner.introduction(of: device)
        guard
            entry != nil || link != nil || introduction.state != .none || owner.concernsPairing(device)
        else { return remove(device) }
        var state = state(of: device, entry, link, introduction)
        if let object = objects[device] {
            if !state.isConnected {
                state.disconnectedSince =
                    object.state.isConnected ? MainLoop.wallClock : object.state.disconnectedSince
            }
            let changes = state.changes(from: object.state)
            object.state = state
            guard !changes.isEmpty, let path = try? path(of: device) else { return }
            tree.propertiesChanged(path, DeviceBinding.description.name, changes, tell: .subscribers)
        } else {
            add(DeviceObject(owner, device, state))
        }
    }

    private func state(
        of device: DeviceID, _ entry: TrustEntry?, _ link: Link?, _ introduction: Introductions.Shown
    ) -> DeviceObject.State {
        let said = link?.received
        func known(_ own: String?, _ kept: String?, _ told: String) -> String {
            [own, kept].compactMap { $0 }.first { !$0.isEmpty } ?? told
        }
        let own = known(said?.name, entry?.name, introduction.name)
        let pairing = owner.shownPairing(of: device)
        let sending = owner.sending(to: device)
        return DeviceObject.State(
            name: own.isEmpty ? "" : state.name(device, own),
            type: known(said?.type, entry?.type, introduction.type),
            addresses: addresses(of: device).map(\.description), isPaired: entry != nil,
            connectedSince: link?.establishedTime ?? 0, asleepSince: owner.asleepSince(device),
            connectedAddress: link?.remoteAddress ?? "",
            way: link?.way.rawValue ?? "",
            places: introduction.state == .accepted
                ? [] : entry?.places(at: MainLoop.wallClock).map(\.description) ?? [],
            connectionError: entry == nil || link != nil ? .none : dialError(of: device, introduction),
            pairingState: pairing.state, isAsking: pairing.isAsked, pairingCode: pairing.code,
            pairingError: pairing.error, isMuted: entry?.isMuted ?? false,
            isSending: sending.isUnderWay, sendError: sending.error,
            waiting: owner.waiting(for: device),
            introducedBy: introduction.introducers.map(\.description),
            introductionState: introduction.state.rawValue,
            retractedBy: introduction.retractors.map(\.description))
    }

    /// Where `device` was reached, the latest first, and where it says it is.
    func addresses(of device: DeviceID) -> [NetworkAddress] {
        var addresses = state.trust[device]?.addresses ?? []
        let others: [NetworkAddress] =
            if case .dialled(let address)? = owner.link(with: device)?.origin { [address] } else { [] }
        for address in others + owner.announcedAddresses(of: device)
            + owner.pairingAddresses(of: device)
        where !addresses.contains(address) { addresses.append(address) }
        return addresses
    }

    /// Why `device` was not reached. That it does not know this device as its peer is to be expected until its user has accepted
    /// the introduction.
    private func dialError(of device: DeviceID, _ introduction: Introductions.Shown) -> ShownError {
        let error = owner.dialError(of: device) ?? .none
        let isExpected =
            introduction.state == .accepted && error.name == HandoffFailure.Code.notPaired.errorName.text
        return isExpected ? .none : error
    }

    private func add(_ object: DeviceObject) {
        do {
            let device = object.device
            tree.export(
                try HandoffNames.bridgePeers.appending(device.description),
                [PeerBinding(owner.peerServer(for: device))], access: .broker, isListed: false)
            tree.export(try path(of: device), [DeviceBinding(object)])
            objects[device] = object
        } catch {
            bridgeLog.warning("Device \(object.device) cannot be shown: \(error)")
        }
    }

    private func remove(_ device: DeviceID) {
        state.forgetName(of: device)
        guard objects.removeValue(forKey: device) != nil else { return }
        for above in [HandoffNames.devices, HandoffNames.bridgePeers] {
            if let path = try? above.appending(device.description) { tree.unexport(path) }
        }
    }
}
