// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// What the connections that this device makes need from their surroundings.
@MainLoop
protocol DialsOwner: AnyObject {
    /// Whether there is an established link with `device`.
    func hasLink(with device: DeviceID) -> Bool
    /// Every link with `device`, established or not.
    func allLinks(with device: DeviceID) -> [Link]
    /// Makes a link of the connection with whoever has answered at `address`.
    /// - Parameter isRemembered: whether the address is kept with the device, as one at which it was reached.
    /// - Throws: if no link can be made; then the connection is closed.
    func addLink(_ transport: TLSConnection, dialled address: NetworkAddress, isRemembered: Bool) throws
        -> Link
    /// Whether there is an established link with `device` that goes over another network.
    func isFarAway(_ device: DeviceID) -> Bool
    /// Where `device` was reached, the latest first, and where it says it is.
    func knownAddresses(of device: DeviceID) -> [NetworkAddress]
    /// Where `device` announces that it is, as far as that is on a network that this machine has now.
    func reachableAddresses(of device: DeviceID) -> [NetworkAddress]
    /// Where others say that `device` is, as long as there was no link with it as a peer.
    func introducedAddresses(of device: DeviceID) -> [NetworkAddress]
    /// Whether somebody announces `address` as its own, or did a short time ago.
    func announces(_ address: NetworkAddress) -> Bool
    /// Where `device` has said on a link that it listens; nil if it may not be there any more.
    func callback(of device: DeviceID) -> NetworkAddress?
    /// `device` was not reached at `address`, and what there is to show of it may have changed.
    func notReached(_ device: DeviceID, at address: NetworkAddress)
}

/// The connections that this device makes: to peers without a link, again and again, and to addresses that
/// the user gives.
@MainLoop
final class Dials {
    /// How long connecting to an address that the user gives may take, including the time to look up its
    /// name.
    private static let connectTimeout = Duration.seconds(10)
    /// How long connecting to a peer may take. It is short because the next attempt begins anew, while TCP
    /// would wait ever longer before trying again.
    private static let peerConnectTimeout = Duration.seconds(3)
    /// How many connections can be made at a time because the user asked for them.
    private static let maximumByUser = 8

    private let state: BridgeState
    private let owner: any DialsOwner
    private let targets: DialTargets
    private var redials: [DeviceID: Redial] = [:]
    /// When peers are dialled, all together, that have not answered for long.
    private var round: LoopSource?
    /// Between two such rounds.
    private static let roundTime = Duration.seconds(900)
    private var byUser: [Int: Task<Link, any Error>] = [:]
    private var nextByUser = 0
    /// The peers whose next attempt is made because they were announced.
    private var announcedOnly: Set<DeviceID> = []
    /// The dials to peers that are linked over another network, and announce that they are in this one.
    private var nearing: [DeviceID: Task<Void, Never>] = [:]
    /// Why each peer that has no link was not reached at the last attempt.
    private(set) var errors: [DeviceID: ShownError] = [:]
    /// How long a link has to exist to count as one that lasted, in microseconds.
    private static let lasting: Int64 = 10_000_000

    init(_ state: BridgeState, _ owner: any DialsOwner) {
        (self.state, self.owner, targets) = (state, owner, DialTargets(state, owner))
    }

    // MARK: By the user

    /// Connects to whoever answers at `address`.
    /// - Returns: the device, which has an established link then.
    /// - Parameter device: the device that it has to be; nil for any device.
    func connect(_ address: NetworkAddress, expecting device: DeviceID? = nil) async throws -> DeviceID {
        guard byUser.count < Self.maximumByUser else {
            throw HandoffFailure(
                .limitsExceeded, "\(byUser.count) connections are being made. Wait until one has come about.")
        }
        nextByUser += 1
        let number = nextByUser
        let task = MainLoop.start { [weak self] in
            guard let self else { throw CancellationError() }
            return try await dial(address, expecting: device, within: Self.connectTimeout)
        }
        byUser[number] = task
        defer { byUser[number] = nil }
        do {
            let link = try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
            return link.device
        } catch let error as LinkNotChosen {
            return error.device
        } catch let error as TLSFailure where error.isOurselves {
            throw HandoffFailure(
                .invalidArguments, "\(address) is an address of this device. Give that of another.")
        } catch {
            guard state.isOn else { throw HandoffFailure.disabled }
            bridgeLog.info("Connecting to \(address) failed: \(error)")
            throw HandoffFailure.unreachable(
                "\(address)",
                "\(error). Is Handoff running there, is the port right, and is that device paired with this one, or is it"
                    + " being paired there (“Pair…” in its window, or “handoff pair”)?")
        }
    }

    // MARK: Again and again

    /// To be called when something has changed that decides whether `device` is to be dialled.
    @discardableResult
    func update(_ device: DeviceID) -> Bool {
        let (entry, hasLink) = (state.trust[device], owner.hasLink(with: device))
        let isWanted = state.isOn && entry != nil && !hasLink && !targets.isEmpty(device)
        if entry == nil { targets.forget(device) }
        if entry == nil || hasLink { errors[device] = nil }
        guard isWanted else {
            redials[device]?.pause()
            announcedOnly.remove(device)
            if entry != nil, hasLink { comeNearer(device) }
            return false
        }
        if redials[device] == nil {
            redials[device] = Redial(
                attempt: { [weak self] in await self?.redial(device) },
                done: { [weak self] in _ = self?.update(device) })
        }
        redials[device]?.schedule()
        if redials[device]?.rests == true { awaitRound() }
        return true
    }

    private func awaitRound() {
        guard round == nil else { return }
        round = .timer(afterAbout: Self.roundTime) { [weak self] in
            self?.round = nil
            for redial in self?.redials.values.filter(\.rests) ?? [] { redial.again() }
            for device in self?.state.trust.devices ?? [] { self?.comeNearer(device) }
        }
    }

    /// Dials `device` without waiting further, if it is to be dialled at all.
    func dialNow(_ device: DeviceID) {
        if update(device) { redials[device]?.now() }
    }

    /// `device` has announced where it is.
    func sighted(_ device: DeviceID) {
        guard targets.mayBeDialled(device), update(device) else { return }
        announcedOnly.insert(device)
        redials[device]?.now()
    }

    /// Dials a peer that is linked over another network where it announces that it is, and again with those that are away if it is
    /// not reached: that link takes the place of the one there is.
    private func comeNearer(_ device: DeviceID) {
        guard state.isOn, owner.isFarAway(device), nearing[device] == nil,
            !owner.reachableAddresses(of: device).isEmpty
        else { return }
        nearing[device] = MainLoop.start { [weak self, addresses = targets.announced(device)] in
            for address in addresses {
                guard let self, !Task.isCancelled, owner.isFarAway(device) else { break }
                _ = try? await dial(address, expecting: device, within: Self.peerConnectTimeout)
            }
            self?.nearing[device] = nil
            if self?.owner.isFarAway(device) == true { self?.awaitRound() }
        }
    }

    /// Dials every device that has no link, for example when the network has changed.
    func dialAllNow() { for device in state.trust.entries.keys { dialNow(device) } }

    /// Gives up the dial to `device` that is in flight.
    func abandon(_ device: DeviceID) { redials.removeValue(forKey: device)?.stop() }

    /// A link with `device` has ended, which was established at `start`, or never if that is nil. After a
    /// link that lasted, the next wait is short again.
    func linkEnded(_ device: DeviceID, since start: Int64?) {
        if let start, MainLoop.now - start > Self.lasting { redials[device]?.reset() }
    }

    /// Gives up everything.
    func stopAll() {
        for redial in redials.values { redial.stop() }
        redials = [:]
        round = nil
        for task in byUser.values { task.cancel() }
        for task in nearing.values { task.cancel() }
    }

    /// Dials the addresses of `device` one after the other, then its places, and says how it went.
    private func redial(_ device: DeviceID) async {
        // Somebody else may listen at a place by now, or nobody: what a better address has told of the device counts.
        var isKnown = false
        for (address, isPlace) in targets.all(device, isSighted: announcedOnly.remove(device) != nil) {
            // The device may have dialled, or have been seen, which is the better reason to dial it.
            if owner.hasLink(with: device) || isPlace && redials[device]?.isDue == true { return }
            do {
                _ = try await dial(
                    address, expecting: device, within: Self.peerConnectTimeout, isRemembered: !isPlace)
                targets.reached(device, at: address)
                return
            } catch {
                if Task.isCancelled || error is LinkNotChosen { return }
                let isDeserted = (error as? GLibError)?.isIO(G_IO_ERROR_CONNECTION_REFUSED) == true
                targets.missed(device, at: address, isDeserted: isDeserted)
                state.refusals.note("\(state.label(of: device)) was not reached at \(address): \(error)")
                if !isPlace || !isKnown { failed(device, at: address, error, isPlace: isPlace) }
                isKnown = isKnown || error is KnockRefused && !isPlace
            }
        }
    }

    private func failed(
        _ device: DeviceID, at address: NetworkAddress, _ error: any Error, isPlace: Bool
    ) {
        errors[device] =
            error is KnockRefused && !isPlace
            ? ShownError(HandoffFailure(.notPaired, "\(error)"))
            : ShownError(
                HandoffFailure(
                    .connectionUnavailable,
                    "It was not reached at \(address): \(PeerText.message("\(error)"))"))
        owner.notReached(device, at: address)
    }

    // MARK: One dial

    /// Somebody answers like Handoff, but goes no further with this device.
    private struct KnockRefused: Error, CustomStringConvertible {
        let address: NetworkAddress

        var description: String {
            "It answers at \(address), but does not know this device as its peer. If that lasts, as when one of the two"
                + " was restored from a backup, unpair and pair both again."
        }
    }

    /// There is another link with the device.
    private struct LinkNotChosen: Error { let device: DeviceID }

    /// The secrets to show at `address`: those of `device` if it is given; otherwise, where the user has
    /// given the address, those of all peers, or, if somebody announces the address, only those of peers that
    /// are known to be there, or have not come yet. Former secrets are among them, since a peer that has lost the latest change
    /// still has one.
    private func secrets(for address: NetworkAddress, expecting device: DeviceID?) -> [PeerSecret] {
        let ours = state.identity.device
        if let device { return state.trust[device]?.knockSecrets(as: ours) ?? [] }
        let isAnnounced = owner.announces(address)
        let entries = state.trust.entries.values.filter {
            // Where one is that was trusted by its id, and has not come yet, only the user knows, who gives the address.
            !isAnnounced || $0.awaitsLink || owner.knownAddresses(of: $0.device).contains(address)
        }.map { $0.knockSecrets(as: ours) }
        // The latest of each first, should there be too many.
        return (0..<TrustEntry.maximumSecrets).flatMap { index in
            entries.compactMap { $0.count > index ? $0[index] : nil }
        }
    }

    /// What the knock says about where it goes: nothing if the user gave the address, since a router there
    /// may pass it on; `address` itself if it was announced, or if `device` has said that it listens there
    /// and it is on a network of this machine.
    private func destination(_ address: NetworkAddress, expecting device: DeviceID?) -> KnockDestination {
        let isCallback =
            device.map {
                owner.callback(of: $0) == address
                    && state.trust[$0]?.addresses.contains(address) == false
                    && NetworkInterface.all().contains { $0.isOnLink(address) }
            } ?? false
        guard isCallback || owner.announces(address) else { return .unnamed }
        return KnockDestination(address) ?? .unnamed
    }

    private func dial(
        _ address: NetworkAddress, expecting device: DeviceID?, within limit: Duration,
        isRemembered: Bool = true
    ) async throws -> Link {
        let identity = state.identity
        let secrets = secrets(for: address, expecting: device)
        let destination = destination(address, expecting: device)
        let socket = try await withTimeLimit(limit) {
            try await SocketConnection.connect(to: address)
        }
        socket.configureForLink()
        let transport = try await withTimeLimit(Admission.timeout) { [opening = state.opening] in
            try await opening.dial(socket, as: identity.device, secrets: secrets, to: destination)
            do {
                return try await TLSConnection.establish(
                    .client, over: socket, as: identity, demanding: device)
            } catch is GLibError where device != nil {
                throw KnockRefused(address: address)
            }
        }
        guard state.isOn, !Task.isCancelled else {
            transport.close()
            throw CancellationError()
        }
        let link = try owner.addLink(transport, dialled: address, isRemembered: isRemembered)
        do {
            try await withTaskCancellationHandler {
                try await link.established()
            } onCancel: {
                MainLoop.start { link.close("it was given up") }
            }
        } catch {
            // The other side may have dialled too, and preferred its own link, which is still being made here.
            for other in owner.allLinks(with: link.device) { try? await other.established() }
            if owner.hasLink(with: link.device) { throw LinkNotChosen(device: link.device) }
            throw error
        }
        return link
    }
}
