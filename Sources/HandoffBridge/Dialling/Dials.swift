// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import HandoffCore
internal import HandoffDaemon
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What the connections that this device makes need of their surroundings.
@MainLoop
protocol DialsOwner: AnyObject {
    /// Whether Handoff is on: while it is not, nobody is dialled.
    var isOn: Bool { get }
    /// Who this device shows itself to be.
    var identity: Identity { get }
    /// What goes over each connection before TLS.
    var opening: Opening { get }
    /// The devices that are trusted, which are dialled as long as they have no link.
    var trusted: [DeviceID: TrustEntry] { get }
    /// What `device` is called in messages.
    func label(of device: DeviceID) -> String
    /// Whether there is an established link with `device`.
    func hasLink(with device: DeviceID) -> Bool
    /// Every link with `device`, established or not.
    func allLinks(with device: DeviceID) -> [Link]
    /// Makes a link of the connection with whoever has answered at `address`.
    /// - Throws: if there cannot be one; the connection is closed then.
    func addLink(_ transport: TLSConnection, dialled address: NetworkAddress) throws -> Link
    /// Where `device` was reached, the latest first, and where it says to be.
    func knownAddresses(of device: DeviceID) -> [NetworkAddress]
    /// Where `device` announces to be, as far as that is on a network of this machine now.
    func reachableAddresses(of device: DeviceID) -> [NetworkAddress]
    /// Whether somebody announces to be at `address`, or did a short time ago.
    func announces(_ address: NetworkAddress) -> Bool
    /// Where `device` has said on a link that it listens; nil if it is not known to be there still.
    func callback(of device: DeviceID) -> NetworkAddress?
    /// `device` was not reached at `address`.
    func notReached(_ device: DeviceID, at address: NetworkAddress)
    /// What there is to be shown of `device` may have changed.
    func deviceChanged(_ device: DeviceID)
    /// Logs why somebody was not reached, unless that was said a short time ago.
    func note(refusal: String)
}

/// The connections that this device makes: to peers without a link, again and again, and where the user says.
@MainLoop
final class Dials {
    /// How long connecting may take where the user says, names looked up included.
    private static let connectTimeout = Duration.seconds(10)
    /// The same for a peer: the next attempt begins anew, while TCP would wait ever longer before it tries again.
    private static let peerConnectTimeout = Duration.seconds(3)
    /// How many connections the user can have made at a time.
    private static let maximumByUser = 8

    private let owner: any DialsOwner
    private var redials: [DeviceID: Redial] = [:]
    private var byUser: [Int: Task<Link, any Error>] = [:]
    private var nextByUser = 0
    /// How often each peer was dialled where an announcement said.
    private var announced: [DeviceID: EventRate] = [:]
    /// Where a peer was reached, of the addresses that announcements said.
    private var proven: [DeviceID: NetworkAddress] = [:]
    /// Why each peer that has no link was not reached at the last attempt, for people.
    private(set) var errors: [DeviceID: String] = [:]
    /// Where nobody listened of those places that announcements of each peer said, and when that was found.
    private var deserted: [DeviceID: [NetworkAddress: Int64]] = [:]
    /// For how long, in microseconds, such a place is left alone, so that one that the peer has left does not use up how
    /// often it may be dialled at all.
    private static let desertedTime: Int64 = 15_000_000
    /// How often a peer is dialled in a minute because of announcements, which may be copies of its own.
    private static let maximumAnnounced = 3
    /// From how long on a link has lasted, in microseconds.
    private static let lasting: Int64 = 10_000_000

    init(_ owner: any DialsOwner) { self.owner = owner }

    // MARK: By the user

    /// Connects to whoever answers at `address`.
    /// - Returns: the device, which has an established link then.
    /// - Parameter device: who it has to be; nil for anybody.
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
            guard owner.isOn else { throw HandoffFailure.disabled }
            bridgeLog.info("Connecting to \(address) failed: \(error)")
            throw HandoffFailure.unreachable(
                "\(address)",
                "\(error). Is Handoff running there, is the port right, and does that device trust this one"
                    + " or is discoverable?")
        }
    }

    // MARK: Again and again

    /// To be called when something has changed that decides whether `device` is to be dialled.
    @discardableResult
    func update(_ device: DeviceID) -> Bool {
        let (entry, hasLink) = (owner.trusted[device], owner.hasLink(with: device))
        let isWanted =
            owner.isOn && entry != nil && !hasLink
            && !(entry?.addresses.isEmpty == true && owner.reachableAddresses(of: device).isEmpty
                && owner.callback(of: device) == nil)
        if entry == nil { (announced[device], proven[device], deserted[device]) = (nil, nil, nil) }
        if entry == nil || hasLink { errors[device] = nil }
        guard isWanted else {
            redials[device]?.pause()
            return false
        }
        if redials[device] == nil {
            redials[device] = Redial(
                attempt: { [weak self] in await self?.redial(device) },
                done: { [weak self] in _ = self?.update(device) })
        }
        redials[device]?.schedule()
        return true
    }

    /// Dials `device` without waiting further, if it is to be dialled at all.
    func dialNow(_ device: DeviceID) {
        if update(device) { redials[device]?.now() }
    }

    /// `device` has announced where it is.
    func sighted(_ device: DeviceID) {
        let now = Instant.now
        if !owner.hasLink(with: device), rate(device).nextAllowed(at: now) <= now { dialNow(device) }
    }

    private func rate(_ device: DeviceID) -> EventRate {
        announced[device] ?? EventRate(limit: Self.maximumAnnounced, period: .seconds(60))
    }

    /// Where `device` is to be dialled now: where it was reached before, where it has said on a link that it listens, and
    /// where it says to be, unless too often.
    private func targets(_ device: DeviceID) -> [NetworkAddress] {
        var known = owner.trusted[device]?.addresses ?? []
        if let callback = owner.callback(of: device), !known.contains(callback) {
            known.append(callback)
        }
        let left = deserted[device, default: [:]].filter { MainLoop.now - $0.value < Self.desertedTime }
        deserted[device] = left.isEmpty ? nil : left
        let said = owner.reachableAddresses(of: device).filter {
            !known.contains($0) && left[$0] == nil
        }
        if let proven = proven[device], said.contains(proven) { return [proven] + known }
        var rate = rate(device)
        guard !said.isEmpty, rate.count(at: .now) else { return known }
        announced[device] = rate
        return said + known
    }

    /// Dials every device that has no link, as when the network has changed.
    func dialAllNow() { for device in owner.trusted.keys { dialNow(device) } }

    /// Gives up the dial to `device` that is in flight.
    func abandon(_ device: DeviceID) { redials.removeValue(forKey: device)?.stop() }

    /// A link with `device` has ended that was established at `start`, nil if it never was: after one that lasted the next
    /// wait is short again.
    func linkEnded(_ device: DeviceID, since start: Int64?) {
        if let start, MainLoop.now - start > Self.lasting { redials[device]?.reset() }
    }

    /// Gives up everything.
    func stopAll() {
        for redial in redials.values { redial.stop() }
        redials = [:]
        for task in byUser.values { task.cancel() }
    }

    /// Dials the addresses of `device` one after the other, and says how it went.
    private func redial(_ device: DeviceID) async {
        for address in targets(device) {
            do {
                _ = try await dial(address, expecting: device, within: Self.peerConnectTimeout)
                proven[device] = address
                return
            } catch {
                if Task.isCancelled || error is LinkNotChosen { return }
                if proven[device] == address { proven[device] = nil }
                owner.notReached(device, at: address)
                owner.note(
                    refusal:
                        "\(owner.label(of: device)) was not reached at \(address): \(error)")
                failed(device, at: address, error)
            }
        }
    }

    private func failed(_ device: DeviceID, at address: NetworkAddress, _ error: any Error) {
        if (error as? GLibError)?.isIO(G_IO_ERROR_CONNECTION_REFUSED) == true,
            owner.announces(address)
        {
            deserted[device, default: [:]][address] = MainLoop.now
        }
        errors[device] =
            error is KnockRefused
            ? "\(error)" : "It was not reached at \(address): \(PeerText.message("\(error)"))"
        owner.deviceChanged(device)
    }

    // MARK: One dial

    /// Somebody answers as Handoff does, but goes no further with this device.
    private struct KnockRefused: Error, CustomStringConvertible {
        let address: NetworkAddress

        var description: String {
            "It answers at \(address), but does not know this device as its peer. If that lasts, as when one of the two"
                + " was restored from a backup, unpair and pair both again."
        }
    }

    /// There is another link with the device.
    private struct LinkNotChosen: Error { let device: DeviceID }

    /// What to show at `address`: that of a peer, and where the user says those of all, unless it is the address of somebody
    /// who announces to be no peer. One that has lost the last change has the former secret.
    private func secrets(for address: NetworkAddress, expecting device: DeviceID?) -> [PeerSecret] {
        let ours = owner.identity.device
        if let device { return owner.trusted[device]?.knockSecrets(as: ours) ?? [] }
        let isAnnounced = owner.announces(address)
        let entries = owner.trusted.values.filter {
            !isAnnounced || owner.knownAddresses(of: $0.device).contains(address)
        }.map { $0.knockSecrets(as: ours) }
        // The latest of each first, should there be too many.
        return (0..<TrustEntry.maximumSecrets).flatMap { index in
            entries.compactMap { $0.count > index ? $0[index] : nil }
        }
    }

    /// What the knock says of where it goes: nothing where the user has said so, since a router may be there that passes it
    /// on; `address` itself where it was announced, or where `device` has said that it listens, on a network of this machine.
    private func destination(_ address: NetworkAddress, expecting device: DeviceID?) -> KnockDestination {
        let isCallback =
            device.map {
                owner.callback(of: $0) == address
                    && owner.trusted[$0]?.addresses.contains(address) == false
                    && NetworkInterface.all().contains { $0.isOnLink(address) }
            } ?? false
        guard isCallback || owner.announces(address) else { return .unnamed }
        return KnockDestination(address) ?? .unnamed
    }

    private func dial(
        _ address: NetworkAddress, expecting device: DeviceID?, within limit: Duration
    ) async throws -> Link {
        let identity = owner.identity
        let secrets = secrets(for: address, expecting: device)
        let destination = destination(address, expecting: device)
        let socket = try await withTimeLimit(limit) {
            try await SocketConnection.connect(to: address)
        }
        socket.configureForLink()
        let transport = try await withTimeLimit(Admission.timeout) { [opening = owner.opening] in
            try await opening.dial(socket, as: identity.device, secrets: secrets, to: destination)
            do {
                return try await TLSConnection.establish(
                    .client, over: socket, as: identity, demanding: device)
            } catch is GLibError where device != nil {
                throw KnockRefused(address: address)
            }
        }
        guard owner.isOn, !Task.isCancelled else {
            transport.close()
            throw CancellationError()
        }
        let link = try owner.addLink(transport, dialled: address)
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
