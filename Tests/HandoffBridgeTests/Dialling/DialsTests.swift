// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

/// What stands in for everything around ``Dials``; no link ever comes about.
@MainLoop
private final class FakeDialsOwner: DialsOwner {
    let shared: TestState
    private let bus = MemoryBus().connect()
    var linked: Set<DeviceID> = []
    /// Where peers announce that they are.
    var announced: [NetworkAddress] = []
    var callback: NetworkAddress?
    /// The addresses at which somebody was not reached, in order.
    var missed: [NetworkAddress] = []
    var changed: Set<DeviceID> = []
    /// Called after somebody was not reached.
    var onMissed: () -> Void = {}

    init() throws { shared = try TestState() }

    /// Dials for it, without carriers.
    func dials() -> Dials {
        Dials(shared.state, self, Carriers(shared.state, bus) { _, _ in })
    }

    func hasLink(with device: DeviceID) -> Bool { linked.contains(device) }
    func allLinks(with device: DeviceID) -> [Link] { [] }

    func addLink(_ transport: TLSConnection, _ origin: Link.Origin, isRemembered: Bool) throws -> Link {
        transport.close()
        throw TLSFailure("there are no links here")
    }

    func knownAddresses(of device: DeviceID) -> [NetworkAddress] {
        shared.state.trust[device]?.addresses ?? []
    }
    func way(to device: DeviceID) -> Link.Way? { linked.contains(device) ? .sameNetwork : nil }
    func reachableAddresses(of device: DeviceID) -> [NetworkAddress] { announced }
    func announces(_ address: NetworkAddress) -> Bool { announced.contains(address) }
    func introducedAddresses(of device: DeviceID) -> [NetworkAddress] { [] }
    func callback(of device: DeviceID) -> NetworkAddress? { callback }

    func notReached(_ device: DeviceID, at address: NetworkAddress?) {
        if let address { missed.append(address) }
        changed.insert(device)
        onMissed()
    }
}

/// Places of this machine at which nobody listens.
private func deserted(_ port: UInt16) -> NetworkAddress { NetworkAddress(host: "127.0.0.1", port: port) }

@Suite("Dialling, alone", .serialized)
struct DialsTests {
    @Test("why a peer is not reached is told, until it has a link")
    func reason() async throws {
        try await onLoop {
            let (owner, peer) = (try FakeDialsOwner(), try device(1))
            let dials = owner.dials()
            try owner.shared.state.trust.put(
                TrustEntry(peer, source: .pairing, addresses: [deserted(1), deserted(2)]))
            dials.dialNow(peer)
            try await eventually {
                owner.missed.count >= 2 && dials.errors[peer]?.text.contains(":2") == true
            }
            #expect(owner.missed.prefix(2) == [deserted(1), deserted(2)])
            #expect(owner.changed == [peer])
            #expect(
                owner.shared.refusals.first?.hasPrefix(
                    "\(peer.description.prefix(8)) was not reached at 127.0.0.1:1: ") == true)
            owner.linked = [peer]
            dials.update(peer)
            #expect(dials.errors[peer] == nil)
            dials.stopAll()
        }
    }

    @Test(
        "what a peer has said of its places is dialled after all else, and not where this machine itself is")
    func places() async throws {
        try await onLoop {
            let (owner, peer) = (try FakeDialsOwner(), try device(1))
            let dials = owner.dials()
            // Addresses that would be refused as places, since no others lead nowhere for sure.
            let said = (1...8).compactMap { KnockDestination(NetworkAddress(host: "127.0.0.\($0)", port: 1)) }
            var entry = TrustEntry(peer, source: .pairing)
            entry.remember(places: [said[0]], at: MainLoop.wallClock)
            try owner.shared.state.trust.put(entry)
            #expect(!dials.update(peer), "this machine itself is no place to dial")
            entry.remember(places: said, at: MainLoop.wallClock)
            try owner.shared.state.trust.put(entry)
            #expect(dials.update(peer), "it has said places")
            dials.stopAll()
            owner.callback = deserted(2)
            dials.dialNow(peer)
            // Each attempt dials the next two, so that those that do not answer hold up little.
            let places = said.dropFirst().compactMap(\.address)
            let attempts = stride(from: 0, to: 8, by: 2).map { first in
                [deserted(2)] + (first..<first + 2).map { places[$0 % places.count] }
            }
            try await eventually { owner.missed.count >= 12 }
            #expect(owner.missed.prefix(12) == attempts.flatMap { $0 }[...])
            dials.stopAll()
            // Whoever is seen meanwhile is dialled where it was seen, before the rest of its places.
            owner.missed = []
            owner.onMissed = { if owner.missed.count == 2 { dials.sighted(peer) } }
            dials.dialNow(peer)
            try await eventually { owner.missed.count >= 5 }
            let isPlace = owner.missed.prefix(5).map { $0 != deserted(2) }
            #expect(isPlace == [false, true, false, false, true], "announcements have no place dialled")
            dials.stopAll()
            // Whoever has dialled meanwhile is not dialled any more.
            owner.missed = []
            owner.onMissed = { owner.linked = [peer] }
            dials.dialNow(peer)
            try await eventually { owner.missed.count == 1 }
            try await letPass(.milliseconds(200))
            #expect(owner.missed.count == 1)
            dials.stopAll()
        }
    }

    @Test("a peer that the user connects to is not dialled besides, until that is over")
    func givesWay() async throws {
        try await onLoop {
            let (owner, peer) = (try FakeDialsOwner(), try device(1))
            let dials = owner.dials()
            // Who takes connections there, and says nothing.
            var taken: [SocketConnection] = []
            let listener = try Listener(NetworkAddress(host: "127.0.0.1", port: 0), port: 0) {
                taken.append($0)
            }
            let address = NetworkAddress(host: "127.0.0.1", port: listener.port)
            try owner.shared.state.trust.put(
                TrustEntry(peer, source: .pairing, addresses: [address]))
            dials.dialNow(peer)
            try await eventually { taken.count == 1 }
            let connecting = MainLoop.start { try? await dials.connect(address, expecting: peer) }
            try await eventually { taken.count == 2 }
            try await eventually { taken[0].hasBeenEnded }
            dials.dialNow(peer)
            dials.sighted(peer)
            #expect(!dials.update(peer))
            connecting.cancel()
            _ = await connecting.value
            #expect(dials.update(peer))
            try await eventually { taken.count == 3 }
            dials.stopAll()
        }
    }

    @Test("only peers without a link are dialled, while Handoff is on, and if there is anywhere to dial")
    func wanted() async throws {
        try await onLoop {
            let (owner, peer) = (try FakeDialsOwner(), try device(1))
            let dials = owner.dials()
            #expect(!dials.update(peer), "it is no peer")
            try owner.shared.state.trust.put(TrustEntry(peer, source: .pairing))
            #expect(!dials.update(peer), "nobody knows where it is")
            owner.callback = deserted(1)
            #expect(dials.update(peer), "it has said where it listens")
            (owner.callback, owner.announced) = (nil, [deserted(1)])
            #expect(dials.update(peer), "it announces where it is")
            owner.linked = [peer]
            #expect(!dials.update(peer), "there is a link")
            (owner.linked, owner.shared.state.handoff) = ([], .off)
            #expect(!dials.update(peer), "Handoff is off")
            dials.stopAll()
            #expect(owner.missed.isEmpty)
        }
    }

    @Test("an announced place at which nobody listens is left alone, while others are dialled again")
    func left() async throws {
        try await onLoop {
            let (owner, peer) = (try FakeDialsOwner(), try device(1))
            let dials = owner.dials()
            try owner.shared.state.trust.put(TrustEntry(peer, source: .pairing, addresses: [deserted(1)]))
            owner.announced = [deserted(2)]
            dials.dialNow(peer)
            try await eventually { owner.missed.count >= 4 }
            #expect(owner.missed.prefix(4) == [deserted(2), deserted(1), deserted(1), deserted(1)])
            dials.stopAll()
        }
    }

    @Test("because of announcements a peer is dialled three times a minute, elsewhere as ever")
    func announcedOften() async throws {
        try await onLoop {
            let (owner, peer) = (try FakeDialsOwner(), try device(1))
            let dials = owner.dials()
            try owner.shared.state.trust.put(TrustEntry(peer, source: .pairing, addresses: [deserted(9)]))
            for port in UInt16(1)...5 {
                owner.announced = [deserted(port)]
                owner.missed = []
                // This is what happens after a link that has lasted: the waits are short again.
                dials.linkEnded(peer, since: MainLoop.now - 60_000_000)
                dials.sighted(peer)
                try await eventually { owner.missed.count { $0 == deserted(9) } >= 2 }
                #expect(owner.missed.contains(deserted(port)) == (port <= 3), "place \(port)")
            }
            dials.stopAll()
        }
    }

    @Test("who connects is told of firewalls where nothing answers, and not where somebody refuses")
    func firewalls() async throws {
        try await onLoop {
            let silence = Dialler.NoAnswer(limit: .seconds(10))
            #expect(Dials.reason(silence).contains(HandoffFailure.mayBeFirewall))
            do {
                _ = try await SocketConnection.connect(to: deserted(1))
                Issue.record("somebody listens there")
            } catch {
                #expect(!Dials.reason(error).contains(HandoffFailure.mayBeFirewall))
            }
        }
    }

    @Test("the user can have eight connections made at a time, and none of them when Handoff is off")
    func byUser() async throws {
        try await onLoop {
            let owner = try FakeDialsOwner()
            let dials = owner.dials()
            var silent: [SocketConnection] = []
            let listener = try Listener(NetworkAddress(host: "127.0.0.1", port: 0), port: 0) {
                silent.append($0)
            }
            let address = NetworkAddress(host: "127.0.0.1", port: listener.port)
            let attempts = (1...8).map { _ in MainLoop.start { try await dials.connect(address) } }
            try await eventually { silent.count == 8 }
            let failure = await #expect(throws: HandoffFailure.self) { try await dials.connect(address) }
            #expect(failure?.code == .limitsExceeded)
            dials.stopAll()
            for attempt in attempts {
                await #expect(throws: HandoffFailure.self) { try await attempt.value }
            }
            // There is room again.
            let next = MainLoop.start { try await dials.connect(address) }
            try await eventually { silent.count == 9 }
            dials.stopAll()
            _ = try? await next.value
        }
    }
}
