// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffDaemon
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The objects of the devices that are trusted or linked, and the names that they are shown under.
@MainLoop
final class Devices {
    private let bridge: Bridge
    private var objects: [DeviceID: DeviceObject] = [:]
    private var names = PeerNames()

    init(_ bridge: Bridge) { self.bridge = bridge }

    private var tree: ObjectTree { bridge.bus.connection.objects }

    /// What `device` is called in messages: its name, which somebody else chose and which ends with the quotation marks
    /// around it, or the start of its id.
    func label(of device: DeviceID) -> String {
        names.name(of: device).map { ChosenText(name: $0).quoted } ?? String(device.description.prefix(8))
    }

    /// What the bus is shown of `device`; nil if it is not there.
    func state(of device: DeviceID) -> DeviceObject.State? { objects[device]?.state }

    /// The object of `device`.
    func path(of device: DeviceID) throws -> ObjectPath {
        try HandoffNames.devices.appending(device.description)
    }

    /// Shows `device` as it is now, or shows it no longer.
    func update(_ device: DeviceID) {
        let (entry, link) = (bridge.trust[device], bridge.links.current[device])
        guard entry != nil || link != nil || bridge.pairings.concerns(device) else { return remove(device) }
        let state = state(of: device, entry, link)
        if let object = objects[device] {
            let changes = state.changes(from: object.state)
            object.state = state
            guard !changes.isEmpty, let path = try? path(of: device) else { return }
            tree.propertiesChanged(path, DeviceBinding.description.name, changes, tell: .subscribers)
        } else {
            add(DeviceObject(bridge, device, state))
        }
    }

    private func state(of device: DeviceID, _ entry: TrustEntry?, _ link: Link?) -> DeviceObject.State {
        let said = link?.received
        let own = [said?.name, entry?.name].compactMap { $0 }.first { !$0.isEmpty } ?? ""
        let pairing = bridge.pairings.shown(device)
        return DeviceObject.State(
            name: own.isEmpty ? "" : names.name(device, own),
            type: [said?.type, entry?.type].compactMap { $0 }.first { !$0.isEmpty } ?? "",
            addresses: addresses(of: device).map(\.description), isPaired: entry != nil,
            connectedSince: link?.establishedTime ?? 0, connectedAddress: link?.remoteAddress ?? "",
            connectionError: entry == nil || link != nil ? "" : bridge.dials.errors[device] ?? "",
            pairingState: pairing.state, pairingCode: pairing.code,
            pairingError: pairing.error)
    }

    /// Where `device` was reached, the latest first, and where it says to be.
    func addresses(of device: DeviceID) -> [NetworkAddress] {
        var addresses = bridge.trust[device]?.addresses ?? []
        let others: [NetworkAddress] =
            if case .dialled(let address)? = bridge.links.current[device]?.origin { [address] } else { [] }
        for address in others + bridge.discovery.addresses(of: device)
            + bridge.pairings.addresses(of: device)
        where !addresses.contains(address) { addresses.append(address) }
        return addresses
    }

    private func add(_ object: DeviceObject) {
        do {
            let device = object.device
            tree.export(
                try HandoffNames.bridgePeers.appending(device.description),
                [PeerBinding(OutgoingPeerObject(bridge, device))], access: .broker, isListed: false)
            tree.export(try path(of: device), [DeviceBinding(object)])
            objects[device] = object
        } catch {
            bridgeLog.warning("Device \(object.device) cannot be shown: \(error)")
        }
    }

    private func remove(_ device: DeviceID) {
        names.remove(device)
        guard objects.removeValue(forKey: device) != nil else { return }
        for above in [HandoffNames.devices, HandoffNames.bridgePeers] {
            if let path = try? above.appending(device.description) { tree.unexport(path) }
        }
    }
}
