// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// The connections that this device makes: to peers without a link, again and again, and where the user says.
@MainLoop
final class Dials {
    /// How long connecting may take, names looked up included.
    private static let connectTimeout = Duration.seconds(10)
    /// How many connections the user can have made at a time.
    private static let maximumByUser = 8

    private let bridge: Bridge
    private var redials: [DeviceID: Redial] = [:]
    private var byUser: [Int: Task<Link, any Error>] = [:]
    private var nextByUser = 0

    init(_ bridge: Bridge) { self.bridge = bridge }

    // MARK: By the user

    /// Connects to whoever answers at `address`.
    /// - Returns: the device, which has an established link then.
    func connect(_ address: NetworkAddress) async throws -> DeviceID {
        guard byUser.count < Self.maximumByUser else {
            throw HandoffFailure(
                .limitsExceeded, "\(byUser.count) connections are being made. Wait until one has come about.")
        }
        nextByUser += 1
        let number = nextByUser
        let task = MainLoop.start { [weak self] in
            guard let self else { throw CancellationError() }
            return try await dial(address)
        }
        byUser[number] = task
        defer { byUser[number] = nil }
        do {
            return try await task.value.device
        } catch let error as LinkNotChosen {
            return error.device
        } catch let error as TLSFailure where error.isOurselves {
            throw HandoffFailure(
                .invalidArguments, "\(address) is an address of this device. Give that of another.")
        } catch {
            guard bridge.isOn else { throw HandoffFailure.switchedOff }
            bridgeLog.info("Connecting to \(address) failed: \(error)")
            throw HandoffFailure.unreachable(
                "\(address)",
                "\(error). Is Handoff running there, is the port right, and does that device trust this one"
                    + " or is discoverable?")
        }
    }

    // MARK: Again and again

    /// To be called when something has changed that decides whether `device` is to be dialled.
    func update(_ device: DeviceID) {
        let isWanted =
            bridge.isOn && bridge.trust[device].map { !$0.addresses.isEmpty } == true
            && bridge.links.current[device] == nil
        guard isWanted else { return redials[device]?.pause() ?? () }
        if redials[device] == nil {
            redials[device] = Redial(
                attempt: { [weak self] in await self?.redial(device) },
                done: { [weak self] in self?.update(device) })
        }
        redials[device]?.schedule()
    }

    /// Dials `device` without waiting further, if it is to be dialled at all.
    func now(_ device: DeviceID) {
        update(device)
        redials[device]?.now()
    }

    /// Dials every device that has no link, as when the network has changed.
    func allNow() { for device in bridge.trust.entries.keys { now(device) } }

    /// Gives up the dial to `device` that is in flight.
    func abandon(_ device: DeviceID) { redials.removeValue(forKey: device)?.stop() }

    /// A link with `device` lasted: the next wait is short again.
    func linkLasted(_ device: DeviceID) { redials[device]?.reset() }

    /// Gives up everything.
    func stopAll() {
        for redial in redials.values { redial.stop() }
        redials = [:]
        for task in byUser.values { task.cancel() }
    }

    /// Dials the addresses of `device` one after the other, and says how it went.
    private func redial(_ device: DeviceID) async {
        for address in bridge.trust[device]?.addresses ?? [] {
            do {
                _ = try await dial(address, expecting: device)
                return
            } catch {
                if Task.isCancelled || error is LinkNotChosen { return }
                bridge.refusals.note(
                    "\(bridge.devices.name(of: device)) was not reached at \(address): \(error)")
            }
        }
    }

    // MARK: One dial

    /// There is another link with the device.
    private struct LinkNotChosen: Error { let device: DeviceID }

    /// What to show: that of a peer, and for an address that the user has given those of all. One that has lost the
    /// last change has the former secret.
    private func secrets(expecting device: DeviceID?) -> [PeerSecret] {
        if let device { return bridge.trust[device]?.secrets ?? [] }
        let entries = bridge.trust.entries.values
        return entries.compactMap(\.secret) + entries.compactMap(\.formerSecret)
    }

    private func dial(_ address: NetworkAddress, expecting device: DeviceID? = nil) async throws -> Link {
        let identity = bridge.identity
        let secrets = secrets(expecting: device)
        let socket = try await withTimeLimit(Self.connectTimeout) {
            try await SocketConnection.connect(to: address)
        }
        socket.configureForLink()
        let transport = try await withTimeLimit(Admission.timeout) { [opening = bridge.opening] in
            try await opening.dial(socket, as: identity.device, secrets: secrets)
            return try await TLSConnection.establish(.client, over: socket, as: identity, demanding: device)
        }
        try Task.checkCancellation()
        let link = try bridge.links.add(transport, .dialled(address))
        do {
            try await withTaskCancellationHandler {
                try await link.established()
            } onCancel: {
                MainLoop.start { link.close("it was given up") }
            }
        } catch {
            // The other side may have dialled too, and preferred its own link, which is still being made here.
            for other in bridge.links.all(with: link.device) { try? await other.established() }
            if bridge.links.current[link.device] != nil { throw LinkNotChosen(device: link.device) }
            throw error
        }
        return link
    }
}
