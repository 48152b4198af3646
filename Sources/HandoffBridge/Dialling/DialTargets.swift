// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import MainLoop

/// Where peers without a link are dialled, and in which order (protocol.md, "Dialling again").
@MainLoop
final class DialTargets {
    private let state: BridgeState
    private let owner: any DialsOwner
    /// How often each peer was dialled at an announced address.
    private var rates: [DeviceID: EventRate] = [:]
    /// The address at which each peer was reached last.
    private var proven: [DeviceID: NetworkAddress] = [:]
    /// The addresses that announcements of each peer named but where nobody listened, and when that was found
    /// out.
    private var deserted: [DeviceID: [NetworkAddress: Int64]] = [:]
    /// How many places of each peer were dialled in former attempts.
    private var tried: [DeviceID: Int] = [:]
    /// How many places are dialled in an attempt: each that does not answer holds up the next one for seconds.
    private static let placesAtOnce = 2
    /// For how long, in microseconds, such an address is left alone, so that dialling one that the peer has
    /// left does not use up the number of times that the peer may be dialled.
    private static let desertedTime: Int64 = 15_000_000
    /// How often a peer is dialled in a minute because of announcements, which may be copies of its own.
    private static let maximumAnnounced = 3

    init(_ state: BridgeState, _ owner: any DialsOwner) { (self.state, self.owner) = (state, owner) }

    /// Whether nobody knows where `device` may be.
    func isEmpty(_ device: DeviceID) -> Bool {
        state.trust[device]?.addresses.isEmpty != false && owner.reachableAddresses(of: device).isEmpty
            && owner.callback(of: device) == nil && places(of: device).isEmpty
    }

    /// Whether `device` may be dialled now because it was announced.
    func mayBeDialled(_ device: DeviceID) -> Bool { rate(device).nextAllowed(at: .now) <= .now }

    private func rate(_ device: DeviceID) -> EventRate {
        rates[device] ?? EventRate(limit: Self.maximumAnnounced, period: .seconds(60))
    }

    /// Counts that `device` is dialled at announced addresses.
    /// - Returns: false if that would be too often.
    private func count(_ device: DeviceID) -> Bool {
        var rate = rate(device)
        guard rate.count(at: .now) else { return false }
        rates[device] = rate
        return true
    }

    /// Where to dial `device` because it announces that it is there; none if it was dialled so too often.
    func announced(_ device: DeviceID) -> [(address: NetworkAddress, isPlace: Bool)] {
        let addresses = owner.reachableAddresses(of: device)
        return !addresses.isEmpty && count(device) ? addresses.map { ($0, false) } : []
    }

    /// Where `device` is to be dialled in one attempt, each with whether it is one of its places: where it announces that it is,
    /// unless it was dialled there too often, where it was reached before, where it has said on a link that it listens, and at
    /// some of its places, the next ones each time; at none if it `isSighted`, so that announcements cause none of that.
    func all(_ device: DeviceID, isSighted: Bool) -> [(address: NetworkAddress, isPlace: Bool)] {
        let near = near(device)
        let places = isSighted ? [] : places(of: device).filter { !near.contains($0) }
        let first = tried[device, default: 0]
        let next = (0..<min(Self.placesAtOnce, places.count)).map { places[(first + $0) % places.count] }
        tried[device] = places.isEmpty ? nil : (first + next.count) % places.count
        return near.map { ($0, false) } + next.map { ($0, true) }
    }

    private func near(_ device: DeviceID) -> [NetworkAddress] {
        var known = state.trust[device]?.addresses ?? []
        if let callback = owner.callback(of: device), !known.contains(callback) {
            known.append(callback)
        }
        let left = deserted[device, default: [:]].filter { MainLoop.now - $0.value < Self.desertedTime }
        deserted[device] = left.isEmpty ? nil : left
        let said = owner.reachableAddresses(of: device).filter {
            !known.contains($0) && left[$0] == nil
        }
        if let proven = proven[device], said.contains(proven) { return [proven] + known }
        return !said.isEmpty && count(device) ? said + known : known
    }

    /// Where `device` has said that it can be reached from other networks, and where others say that it is, but for what is this
    /// machine itself, or on a network that it is on: announcements are for that, and nobody is to have it searched. Only who has
    /// not been linked yet cannot be known by its announcements, and is dialled there at the ports that serve for that.
    private func places(of device: DeviceID) -> [NetworkAddress] {
        let introduced = owner.introducedAddresses(of: device)
        let said = state.trust[device]?.places(at: MainLoop.wallClock) ?? []
        let places = introduced + said.filter { !introduced.contains($0) }
        guard !places.isEmpty, let own = NetworkInterface.ownAddresses() else { return [] }
        let networks = NetworkInterface.all()
        return places.filter { place in
            guard let bytes = NetworkInterface.bytes(of: place.host), !own.contains(bytes) else {
                return false
            }
            return introduced.contains(place) && Listener.ports.contains(place.port)
                || !networks.contains { $0.isOnLink(place) }
        }
    }

    /// `device` was reached at `address`.
    func reached(_ device: DeviceID, at address: NetworkAddress) { proven[device] = address }

    /// `device` was not reached at `address`, where nobody listens if `isDeserted`.
    func missed(_ device: DeviceID, at address: NetworkAddress, isDeserted: Bool) {
        if proven[device] == address { proven[device] = nil }
        if isDeserted, owner.announces(address) {
            deserted[device, default: [:]][address] = MainLoop.now
        }
    }

    /// `device` is no peer any more.
    func forget(_ device: DeviceID) {
        (rates[device], proven[device], deserted[device], tried[device]) = (nil, nil, nil, nil)
    }
}
