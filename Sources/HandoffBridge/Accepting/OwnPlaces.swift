// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop
internal import Platform

/// What the places of this device need from their surroundings.
@MainLoop
protocol OwnPlacesOwner: AnyObject {
    /// Whether the user wants peers to be told where they can connect from other networks.
    var sharesPlaces: Bool { get }
    /// The port that is listened on at all addresses; nil if that is another one at each start, and on each network.
    var lastingPort: UInt16? { get }
    /// Whether somebody who connects to `host`, an IP address of this machine, arrives where this device listens.
    func listens(at host: String) -> Bool
    /// Peers are to be told ``OwnPlaces/said`` anew.
    func placesChanged()
}

/// Where this device can be reached from other networks, and listening there (protocol.md, "Places").
///
/// The port that is announced is another one at each start and on each network, and a peer that is away would not hear of
/// that. So unless the user has chosen a port, there is one besides that stays, and is open at these addresses alone.
@MainLoop
final class OwnPlaces {
    /// What peers are told.
    private(set) var said: [KnockDestination] = []
    private let state: BridgeState
    private let owner: any OwnPlacesOwner
    private let admission: Admission
    private let port: UInt16
    private let addresses: @MainLoop () -> (addresses: [[UInt8]], areSettling: Bool)
    private var listeners: [[UInt8]: Listener] = [:]
    private var pause: LoopSource?
    private var again: LoopSource?
    private var lastSaid = Int64.min / 2

    /// How long peers are not told again, in microseconds: a tunnel may come and go all the time.
    private static let interval: Int64 = 10_000_000
    /// How long the kernel takes at most to find out whether somebody else has a new address (RFC 4862, section 5.4). Not
    /// everything tells when it is done.
    private static let settlingTime = Duration.seconds(3)
    /// How long it takes until ports that others have are tried again.
    private static let retryTime = Duration.seconds(60)
    /// How many ports are tried, one after the other: another user of this machine may have the first.
    private static let maximumTries: UInt16 = 3

    /// Hands the connections that come in to `admission`. Where this machine can be reached is what `addresses` says.
    /// - Parameter port: the port at places; nil for that of this device.
    init(
        _ state: BridgeState, _ owner: any OwnPlacesOwner, _ admission: Admission, port: UInt16? = nil,
        _ addresses: @escaping @MainLoop () -> (addresses: [[UInt8]], areSettling: Bool) = PlaceAddresses.now
    ) {
        (self.state, self.owner, self.admission, self.addresses) = (state, owner, admission, addresses)
        self.port = port ?? Self.port(of: state.ownID)
    }

    /// The port at places unless the user has chosen one. One id in a hundred has the same.
    nonisolated static func port(of device: DeviceID) -> UInt16 {
        let digest = Digest.sha256(Array("handoff place port 1".utf8) + device.bytes)
        let number = digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Listener.ports.lowerBound + UInt16(number % UInt32(Listener.ports.count))
    }

    /// To be called when the network, the port or the user's choice has changed.
    func update() { update(mayWait: true) }

    /// What the kernel has not found out once it was waited for is a place after the next change: on an interface without a
    /// cable it never finds out.
    private func update(mayWait: Bool) {
        // What peers know stays true for when Handoff is on again.
        guard state.isOn else {
            listeners = [:]
            (pause, again) = (nil, nil)
            return
        }
        let (addresses, areSettling) = owner.sharesPlaces ? self.addresses() : ([], false)
        let lasting = owner.lastingPort
        listeners = listeners.filter { lasting == nil && addresses.contains($0.key) }
        if lasting == nil { for address in addresses where listeners[address] == nil { listen(at: address) } }
        let isTaken = lasting == nil && addresses.contains { listeners[$0] == nil && listens(at: $0) }
        again =
            areSettling && mayWait
            ? .timer(after: Self.settlingTime) { [weak self] in self?.update(mayWait: false) }
            : isTaken ? .timer(after: Self.retryTime) { [weak self] in self?.update() } : nil
        let new = addresses.compactMap { bytes -> KnockDestination? in
            guard let port = lasting ?? listeners[bytes]?.port, port > 0, listens(at: bytes) else {
                return nil
            }
            return KnockDestination(address: bytes, port: port)
        }
        guard new != said else { return }
        let wait = lastSaid + Self.interval - MainLoop.now
        // What the user does not want told is taken back at once.
        guard wait <= 0 || !owner.sharesPlaces else {
            if pause == nil {
                pause = .timer(after: .microseconds(wait)) { [weak self] in
                    self?.pause = nil
                    self?.update(mayWait: false)
                }
            }
            return
        }
        (said, lastSaid) = (new, MainLoop.now)
        owner.placesChanged()
    }

    private func listens(at address: [UInt8]) -> Bool {
        NetworkInterface.text(address).map { owner.listens(at: $0) } ?? false
    }

    /// Frees the port at places, for who listens on it everywhere; ``update()`` is to follow.
    func close() { listeners = [:] }

    private func listen(at address: [UInt8]) {
        guard let text = NetworkInterface.text(address), listens(at: address) else { return }
        for number in 0..<Self.maximumTries {
            do {
                let place = NetworkAddress(host: text, port: port &+ number)
                listeners[address] = try Listener(place, port: place.port) { [weak self] socket in
                    self?.admission.admit(socket)
                }
                return
            } catch {
                state.refusals.note(
                    "Peers on other networks cannot connect to \(text), since its port \(port &+ number) is not available:"
                        + " \(error) If that lasts, choose another one: Port in handoff.conf.")
            }
        }
    }
}
