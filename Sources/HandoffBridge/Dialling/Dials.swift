// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import HandoffCore
internal import MainLoop
internal import Platform

/// What the connections that this device makes need from their surroundings.
@MainLoop
protocol DialsOwner: AnyObject {
    /// Whether there is an established link with `device`.
    func hasLink(with device: DeviceID) -> Bool
    /// Every link with `device`, established or not.
    func allLinks(with device: DeviceID) -> [Link]
    /// Makes a link of the connection with whoever has answered.
    /// - Parameter isRemembered: whether the address is kept with the device, as one at which it was reached.
    /// - Throws: if no link can be made; then the connection is closed.
    func addLink(_ transport: TLSConnection, _ origin: Link.Origin, isRemembered: Bool) throws -> Link
    /// By which way the established link with `device` goes; nil if there is none.
    func way(to device: DeviceID) -> Link.Way?
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
    /// `device` was not reached at `address`, or by a carrier if that is nil, and what there is to show of it may have changed.
    func notReached(_ device: DeviceID, at address: NetworkAddress?)
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
    private let carriers: Carriers
    private let dialler: Dialler
    private let targets: DialTargets
    private var redials: [DeviceID: Redial] = [:]
    /// When peers are dialled, all together, that have not answered for long.
    private var round: LoopSource?
    /// Between two such rounds.
    private static let roundTime = Duration.seconds(900)
    /// The connections that the user has asked for, and the devices at their other ends, as far as these are known.
    private var byUser: [Int: (device: DeviceID?, task: Task<Link, any Error>)] = [:]
    private var nextByUser = 0
    /// The peers whose next attempt is made because they were announced.
    private var announcedOnly: Set<DeviceID> = []
    /// The dials to peers that are linked by another way than over this network, and may be nearer.
    private var nearing: [DeviceID: Task<Void, Never>] = [:]
    /// Why each peer that has no link was not reached at the last attempt.
    private(set) var errors: [DeviceID: ShownError] = [:]
    /// How long a link has to exist to count as one that lasted, in microseconds.
    private static let lasting: Int64 = 10_000_000

    init(_ state: BridgeState, _ owner: any DialsOwner, _ carriers: Carriers) {
        (self.state, self.owner, self.carriers) = (state, owner, carriers)
        (dialler, targets) = (Dialler(state, owner, carriers), DialTargets(state, owner))
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
            return try await dialler.dial(address, expecting: device, within: Self.connectTimeout) {
                [weak self] in self?.userConnects(number, to: $0)
            }
        }
        byUser[number] = (nil, task)
        if let device { userConnects(number, to: device) }
        defer { if let device = byUser.removeValue(forKey: number)?.device { update(device) } }
        do {
            let link = try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
            return link.device
        } catch let error as Dialler.LinkNotChosen {
            return error.device
        } catch let error as TLSFailure where error.isOurselves {
            throw HandoffFailure(
                .invalidArguments, "\(address) is an address of this device. Give that of another.")
        } catch {
            guard state.isOn else { throw HandoffFailure.disabled }
            bridgeLog.info("Connecting to \(address) failed: \(error)")
            throw HandoffFailure.unreachable("\(address)", Self.reason(error))
        }
    }

    /// The connection of this number that the user has asked for goes to `device`. Of two links that this device dials, the
    /// later one ends the other, and what was begun there.
    private func userConnects(_ number: Int, to device: DeviceID) {
        byUser[number]?.device = device
        abandon(device)
    }

    /// What is said to the user of `error`, because of which nobody was reached at an address, and what to look for there. What
    /// drops connections is silent, or says that there is no way; who refuses them has been reached.
    static func reason(_ error: any Error) -> String {
        let mayBeFirewall =
            error is Dialler.NoAnswer || (error as? GLibError)?.isIO(G_IO_ERROR_HOST_UNREACHABLE) == true
        return "\(error). " + (mayBeFirewall ? HandoffFailure.mayBeFirewall + " " : "")
            + "Is Handoff running there, is the port right, and is that device paired with this one, or is it"
            + " being paired there (“Pair…” in its window, or “handoff pair”)?"
    }

    // MARK: Again and again

    /// To be called when something has changed that decides whether `device` is to be dialled.
    @discardableResult
    func update(_ device: DeviceID) -> Bool {
        let (entry, hasLink) = (state.trust[device], owner.hasLink(with: device))
        let isWanted =
            state.isOn && entry != nil && !hasLink && !byUser.values.contains { $0.device == device }
            && (!targets.isEmpty(device) || !carriers.to(device).isEmpty)
        if entry == nil { targets.forget(device) }
        if entry == nil || hasLink || targets.isEmpty(device) && carriers.to(device).isEmpty {
            errors[device] = nil
        }
        guard isWanted else {
            redials[device]?.pause()
            announcedOnly.remove(device)
            if entry != nil, hasLink { comeNearer(device, targets.announced) }
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
        guard state.isOn, round == nil else { return }
        round = .timer(afterAbout: Self.roundTime) { [weak self] in
            self?.round = nil
            for redial in self?.redials.values.filter(\.rests) ?? [] { redial.again() }
            for device in self?.state.trust.devices ?? [] { self?.comeNearer(device) }
        }
    }

    /// Dials `device` without waiting further, if it is to be dialled at all.
    func dialNow(_ device: DeviceID) {
        guard !owner.hasLink(with: device) else { return comeNearer(device) }
        if update(device) { redials[device]?.now() }
    }

    /// `device` has announced where it is.
    func sighted(_ device: DeviceID) {
        guard targets.mayBeDialled(device), update(device) else { return }
        announcedOnly.insert(device)
        redials[device]?.now()
    }

    /// Dials a peer that is linked by a carrier wherever it may be.
    private func comeNearer(_ device: DeviceID) {
        guard owner.way(to: device) == .carried else { return comeNearer(device, targets.announced) }
        comeNearer(device) { [targets] in targets.all($0, isSighted: false) }
    }

    /// Dials a peer that is linked over another network, or by a carrier, at these addresses, and again with those that are away if
    /// it is not reached: that link takes the place of the one there is.
    private func comeNearer(
        _ device: DeviceID, _ addresses: (DeviceID) -> [(address: NetworkAddress, isPlace: Bool)]
    ) {
        let way = owner.way(to: device)
        guard state.isOn, way == .otherNetwork || way == .carried, nearing[device] == nil else { return }
        // A carrier that has been in use for long may not be needed any more.
        if way == .carried, !targets.isEmpty(device) { awaitRound() }
        let addresses = addresses(device)
        guard !addresses.isEmpty else { return }
        nearing[device] = MainLoop.start { [weak self] in
            for (address, isPlace) in addresses {
                guard let self, !Task.isCancelled, owner.way(to: device) == way else { break }
                try? await dial(device, at: address, isPlace: isPlace)
            }
            self?.nearing[device] = nil
            if self?.owner.way(to: device) == way { self?.awaitRound() }
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
        for connection in byUser.values { connection.task.cancel() }
        for task in nearing.values { task.cancel() }
    }

    /// Dials the addresses of `device` one after the other, then its places, then by its carriers, and says how it went.
    private func redial(_ device: DeviceID) async {
        // Somebody else may listen at a place by now, or nobody: what a better address has told of the device counts.
        var isKnown = false
        let isSighted = announcedOnly.remove(device) != nil
        for (address, isPlace) in targets.all(device, isSighted: isSighted) {
            // The device may have dialled, or have been seen, which is the better reason to dial it.
            if owner.hasLink(with: device) || isPlace && redials[device]?.isDue == true { return }
            do {
                return try await dial(device, at: address, isPlace: isPlace)
            } catch {
                if Task.isCancelled || error is Dialler.LinkNotChosen { return }
                if !isPlace || !isKnown {
                    failed(device, "at \(address)", at: address, error, isPlace: isPlace)
                }
                isKnown = isKnown || error is Dialler.KnockRefused && !isPlace
            }
        }
        for carrier in isSighted ? [] : carriers.to(device) {
            if owner.hasLink(with: device) || redials[device]?.isDue == true { return }
            do {
                _ = try await dialler.dial(by: carrier, to: device)
                return
            } catch {
                if Task.isCancelled || error is Dialler.LinkNotChosen { return }
                note(device, carrier.way, error)
                if !isKnown { failed(device, carrier.way, at: nil, error, isPlace: false) }
            }
        }
    }

    /// Dials `device` at one of its addresses.
    private func dial(_ device: DeviceID, at address: NetworkAddress, isPlace: Bool) async throws {
        do {
            _ = try await dialler.dial(
                address, expecting: device, within: Self.peerConnectTimeout, isRemembered: !isPlace)
            targets.reached(device, at: address)
        } catch {
            if Task.isCancelled || error is Dialler.LinkNotChosen { throw error }
            let isDeserted = (error as? GLibError)?.isIO(G_IO_ERROR_CONNECTION_REFUSED) == true
            targets.missed(device, at: address, isDeserted: isDeserted)
            note(device, "at \(address)", error)
            throw error
        }
    }

    /// What is wrong, without the name that it has on D-Bus.
    private static func text(_ error: any Error) -> String {
        (error as? DBusError)?.message ?? "\(error)"
    }

    private func note(_ device: DeviceID, _ way: String, _ error: any Error) {
        state.refusals.note(
            "\(state.label(of: device)) was not reached \(way): \(PeerText.message(Self.text(error)))")
    }

    /// `device` was not reached so; `address` is nil for a carrier.
    private func failed(
        _ device: DeviceID, _ way: String, at address: NetworkAddress?, _ error: any Error, isPlace: Bool
    ) {
        errors[device] =
            error is Dialler.KnockRefused && !isPlace
            ? ShownError(HandoffFailure(.notPaired, "\(error)"))
            : ShownError(
                HandoffFailure(
                    .connectionUnavailable, "It was not reached \(way): \(PeerText.message(Self.text(error)))"
                ))
        owner.notReached(device, at: address)
    }
}
