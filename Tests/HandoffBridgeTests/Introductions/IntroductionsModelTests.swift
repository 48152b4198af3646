// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

/// A device of the model: its trust is on disk, and who it is told of comes from the others.
@MainLoop
private final class ModelDevice: IntroductionsOwner {
    private(set) var state: BridgeState
    private(set) var introductions: Introductions?
    let place: KnockDestination
    unowned let world: World
    var isOnline = true
    private let folder: TemporaryDirectory
    private let identity: Identity

    init(_ number: UInt8, _ world: World) throws {
        (folder, identity) = (try TemporaryDirectory(), try Identity(pem: KeyMaker.makeIdentity()))
        self.world = world
        place = try #require(KnockDestination(address: [10, 0, 0, number], port: 45_700))
        state = BridgeState(identity, TrustStore(in: StateFolder(folder.path("state"))), Refusals { _ in })
        introductions = Introductions(state, self, interval: .zero, settlingTime: .zero)
    }

    var id: DeviceID { identity.device }

    /// Begins anew with what is on disk.
    func restart() throws {
        state.trust.flush()
        let trust = TrustStore(in: StateFolder(folder.path("state")))
        try trust.load()
        state = BridgeState(identity, trust, Refusals { _ in })
        introductions = Introductions(state, self, interval: .zero, settlingTime: .zero)
    }

    var introduces: Bool { true }
    func usableLink(with device: DeviceID) -> Int? { world.links[Pair(id, device)] }

    func linkedPlaces(of device: DeviceID) -> [KnockDestination] {
        usableLink(with: device) == nil
            ? [] : [world.devices.first { $0.id == device }?.place].compactMap { $0 }
    }

    func tell(_ device: DeviceID, introduced: [Introduction]?, retracted: [DeviceID]?) {
        guard let link = usableLink(with: device),
            let other = world.devices.first(where: { $0.id == device })
        else { return }
        world.hasChanged = true
        if let introduced { try? other.introductions?.introduced(introduced, by: id, over: link) }
        if let retracted { try? other.introductions?.retracted(retracted, by: id, over: link) }
    }

    func deviceChanged(_ device: DeviceID) { world.hasChanged = true }
    func trustBegan(_ device: DeviceID) { world.hasChanged = true }
    func dialNow(_ device: DeviceID) { world.hasChanged = true }

    /// Whether it can reach `other`: where it was told, or where it was linked before.
    func canReach(_ other: ModelDevice) -> Bool {
        guard let entry = state.trust[other.id] else { return false }
        let said = introductions?.shown(other.id).addresses ?? []
        return entry.isMutual
            || (entry.places(at: MainLoop.wallClock) + said).contains { KnockDestination($0) == other.place }
    }
}

/// Two devices, in whichever order.
private struct Pair: Hashable {
    let devices: Set<DeviceID>

    init(_ one: DeviceID, _ other: DeviceID) { devices = [one, other] }
}

/// Five devices, of which those are linked that are there and trust each other.
@MainLoop
private final class World {
    private(set) var devices: [ModelDevice] = []
    private(set) var links: [Pair: Int] = [:]
    /// Which user wants which device, as the user has said.
    var wanted: [DeviceID: Set<DeviceID>] = [:]
    var hasChanged = false
    private var nextLink = 0

    init() throws { for number in 1...5 { devices.append(try ModelDevice(UInt8(number), self)) } }

    /// Both have compared digits.
    func pair(_ a: ModelDevice, _ b: ModelDevice) throws {
        for (one, other) in [(a, b), (b, a)] {
            try one.state.trust.pair(TrustEntry(other.id, name: "n", source: .pairing, isMutual: true))
            wanted[one.id, default: []].insert(other.id)
        }
    }

    private func update(_ a: ModelDevice, _ b: ModelDevice) {
        let pair = Pair(a.id, b.id)
        let trusts = (a.state.isTrusted(b.id), b.state.isTrusted(a.id))
        let canMeet = a.isOnline && b.isOnline && (a.canReach(b) || b.canReach(a))
        if canMeet {
            // Whoever has ended the pairing says so.
            for (one, other) in [(a, b), (b, a)] where one.state.trust[other.id]?.endsWithPeersTrust == true {
                guard !other.state.isTrusted(one.id) else { continue }
                one.state.trust.remove(other.id, isByUser: false)
                wanted[one.id]?.remove(other.id)
                hasChanged = true
            }
        }
        let isLinked = canMeet && trusts.0 && trusts.1
        if isLinked, links[pair] == nil {
            nextLink += 1
            links[pair] = nextLink
            a.state.trust.note(b.id) { $0.linked() }
            b.state.trust.note(a.id) { $0.linked() }
            hasChanged = true
        } else if !isLinked, let link = links.removeValue(forKey: pair) {
            a.introductions?.linkEnded(b.id, link)
            b.introductions?.linkEnded(a.id, link)
            hasChanged = true
        }
    }

    /// Returns when nobody has anything more to say.
    func settle() async throws {
        repeat {
            hasChanged = false
            for (index, a) in devices.enumerated() { for b in devices.dropFirst(index + 1) { update(a, b) } }
            for device in devices { device.introductions?.update() }
            for _ in 0..<3 { try await letPass(.milliseconds(1)) }
        } while hasChanged
    }

    /// The links of a device end, as when it goes away or its bridge ends.
    func cut(_ device: ModelDevice) {
        for other in devices where other !== device {
            guard let link = links.removeValue(forKey: Pair(device.id, other.id)) else { continue }
            device.introductions?.linkEnded(other.id, link)
            other.introductions?.linkEnded(device.id, link)
        }
    }

    /// One user does something, or a device comes or goes.
    func step(_ random: inout Seeded) throws {
        let (a, b) = (devices[random.below(5)], devices[random.below(5)])
        guard a !== b else { return }
        let state = a.introductions?.shown(b.id).state
        switch random.below(10) {
        case 0..<4 where state == .offered || state == .declined:
            try a.introductions?.accept(b.id)
            wanted[a.id, default: []].insert(b.id)
        case 4 where state == .offered: try a.introductions?.decline(b.id)
        case 5, 6:
            a.isOnline.toggle()
        case 7:
            cut(a)
            try a.restart()
        case 8 where a.state.isTrusted(b.id):
            a.state.trust.remove(b.id, isByUser: true)
            wanted[a.id]?.remove(b.id)
        case 9 where a.state.isTrusted(b.id): try a.introductions?.keep(b.id)
        default: break
        }
    }
}

@Suite("Introductions among five devices, whatever their users do")
struct IntroductionsModelTests {
    @Test(
        "those are paired in the end of which both users have said so, and nobody is by what others say",
        arguments: [UInt64(1), 2, 3, 4])
    func yesOnBothSides(seed: UInt64) async throws {
        try await onLoop {
            var random = Seeded(seed)
            let world = try World()
            for device in world.devices.dropFirst() { try world.pair(world.devices[0], device) }
            try await world.settle()
            for _ in 0..<60 {
                try world.step(&random)
                try await world.settle()
                for device in world.devices {
                    #expect(Set(device.state.trust.devices) == world.wanted[device.id, default: []])
                }
            }
            for device in world.devices { device.isOnline = true }
            try await world.settle()
            for (index, a) in world.devices.enumerated() {
                for b in world.devices.dropFirst(index + 1) {
                    let isWanted =
                        world.wanted[a.id, default: []].contains(b.id)
                        && world.wanted[b.id, default: []].contains(a.id)
                    // Where nobody is left who could say where the other is, the users can.
                    let isKnown =
                        a.canReach(b) || b.canReach(a)
                        || world.devices.contains {
                            world.links[Pair($0.id, a.id)] != nil && world.links[Pair($0.id, b.id)] != nil
                        }
                    #expect((world.links[Pair(a.id, b.id)] != nil) == (isWanted && isKnown))
                }
            }
        }
    }
}
