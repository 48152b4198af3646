// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import HandoffCore
internal import MainLoop
internal import Platform

/// Makes one link: connects, shows who this device is, and waits until the link is established.
@MainLoop
final class Dialler {
    private let state: BridgeState
    private let owner: any DialsOwner
    private let carriers: Carriers
    /// How long the opening and the handshake may take with a device that a carrier connects to.
    private static let carriedTimeout = Duration.seconds(20)

    init(_ state: BridgeState, _ owner: any DialsOwner, _ carriers: Carriers) {
        (self.state, self.owner, self.carriers) = (state, owner, carriers)
    }

    /// Somebody answers like Handoff, but goes no further with this device.
    struct KnockRefused: Error, CustomStringConvertible {
        let origin: Link.Origin

        var description: String {
            "It answers \(origin), but does not know this device as its peer. If that lasts, as when one of the two"
                + " was restored from a backup, unpair and pair both again."
                + (origin.isCarried ? " What carries it may also have cut it off." : "")
        }
    }

    /// Nobody has answered at an address, not even that nobody listens there.
    struct NoAnswer: Error, CustomStringConvertible {
        let limit: Duration

        var description: String { "\(TimeLimitExceeded(limit: limit))" }
    }

    /// There is another link with the device.
    struct LinkNotChosen: Error { let device: DeviceID }

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

    /// Makes a link with `device`, or with any device if that is nil, at `address`, where it has to connect within `limit`.
    /// - Parameters:
    ///   - isRemembered: whether the address is kept with the device, as one at which it was reached.
    ///   - known: told which device it is, before there is a link.
    /// - Throws: ``KnockRefused``; ``LinkNotChosen``; ``NoAnswer``; why nobody is reached there.
    func dial(
        _ address: NetworkAddress, expecting device: DeviceID?, within limit: Duration,
        isRemembered: Bool = true, known: @MainLoop (DeviceID) -> Void = { _ in }
    ) async throws -> Link {
        let secrets = secrets(for: address, expecting: device)
        let destination = destination(address, expecting: device)
        let socket: SocketConnection
        do {
            socket = try await withTimeLimit(limit) { try await SocketConnection.connect(to: address) }
        } catch let error as TimeLimitExceeded {
            throw NoAnswer(limit: error.limit)
        }
        return try await open(
            socket, .dialled(address), expecting: device, secrets, destination, isRemembered: isRemembered,
            known: known)
    }

    /// Makes a link with `device` over a connection that `carrier` makes.
    /// - Throws: as the other does.
    func dial(by carrier: Carriers.Carrier, to device: DeviceID) async throws -> Link {
        let socket = try await carriers.connect(carrier)
        // That may take long, and the device may be no peer any more.
        guard let entry = state.trust[device] else { throw CancellationError() }
        return try await open(
            socket, .carried(carrier.way, isDialled: true), expecting: device,
            entry.knockSecrets(as: state.ownID), .unnamed, isRemembered: false, known: { _ in })
    }

    /// Makes a link of a connection to whoever is at the other end.
    private func open(
        _ socket: SocketConnection, _ origin: Link.Origin, expecting device: DeviceID?,
        _ secrets: [PeerSecret], _ destination: KnockDestination, isRemembered: Bool,
        known: @MainLoop (DeviceID) -> Void
    ) async throws -> Link {
        let identity = state.identity
        let limit = socket.isCarried ? Self.carriedTimeout : Admission.timeout
        socket.configureForLink()
        let transport = try await withTimeLimit(limit) { [opening = state.opening] in
            try await opening.dial(socket, as: identity.device, secrets: secrets, to: destination)
            do {
                return try await TLSConnection.establish(
                    .client, over: socket, as: identity, demanding: device)
            } catch is GLibError where device != nil {
                throw KnockRefused(origin: origin)
            }
        }
        guard state.isOn, !Task.isCancelled, !socket.isCarried || state.isTrusted(transport.peer) else {
            transport.close()
            throw CancellationError()
        }
        known(transport.peer)
        let link = try owner.addLink(transport, origin, isRemembered: isRemembered)
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
