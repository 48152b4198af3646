// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

private let activity = "0123456789abcdef0123456789abcdef"
private let other = "fedcba9876543210fedcba9876543210"
private let summary: [String: Value] = [
    "ActivityType": .string("com.example.edit"), "ApplicationId": .string("com.example.Notes"),
]

@Suite("Sending what is offered to a peer", .serialized)
struct SendTests {
    /// Two devices that are paired and connected, the first of which offers something.
    @MainLoop
    private func pair() async throws -> (TestDevice, TestDevice) {
        let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
        try await a.pair(with: b)
        try await a.allPeers().offer(activity: activity, summary: summary)
        try await eventually { b.broker?.saw("offer \(activity)") == true }
        return (a, b)
    }

    @Test("what is sent is told to the broker there, behind its offer, and to no other peer")
    func send() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            let c = try await TestDevice.start()
            try await a.pair(with: c)
            try await a.device(b).send()
            try await eventually { b.broker?.saw("invite \(activity)") == true }
            // What the broker has been asked to do by now counts, even if it is still on its way here.
            try await a.allPeers().offer(activity: other, summary: summary)
            try await a.device(b).send()
            try await eventually { b.broker?.events.last == "offer \(other)" }
            #expect(try await a.device(b).sendError() == "")
            try await eventually { b.broker?.events.last == "invite \(other)" }
            try await eventually { c.broker?.saw("offer \(other)") == true }
            #expect(c.broker?.events.contains { $0.hasPrefix("invite") } == false)
        }
    }

    @Test("a device that is not paired or not linked, and nothing that is offered, are refused by name")
    func refused() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            let stranger = try await TestDevice.start()
            stranger.bridge.discoverability.set(true)
            _ = try await a.proxy.connect(address: stranger.address)
            await expectError("org.example.Handoff.Error.NotPaired") {
                try await a.device(stranger).send()
            }
            try await a.allPeers().withdraw(activity: activity)
            await expectError("org.example.Handoff.Error.OfferWithdrawn") { try await a.device(b).send() }
            try await a.allPeers().offer(activity: other, summary: summary)
            a.broker?.setEnabled(false)
            await expectError("org.example.Handoff.Error.Disabled") { try await a.device(b).send() }
            a.broker?.setEnabled(true)
            try await eventually { a.link(with: b) != nil }
            b.bridge.end()
            try await eventually { a.link(with: b) == nil }
            // What would wait for it is asked of the broker, which has nothing.
            await expectError("org.example.Handoff.Error.OfferWithdrawn") { try await a.device(b).send() }
            #expect(b.broker?.events.contains { $0.hasPrefix("invite") } == false)
        }
    }

    @Test("what the broker sends to one peer has to be what is offered, and cannot go to all")
    func byBroker() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            await expectError("org.example.Handoff.Error.OfferWithdrawn") {
                try await a.peer(b).invite(activity: other)
            }
            await expectError("org.freedesktop.DBus.Error.NotSupported") {
                try await a.allPeers().invite(activity: activity)
            }
            try await a.peer(b).invite(activity: activity)
            #expect(b.broker?.events.filter { $0.hasPrefix("invite") } == ["invite \(activity)"])
        }
    }

    @Test("a muted peer's broker hears nothing, the mute outlives the bridge, and goes with the trust")
    func muted() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            try await b.device(a).setMuted(true)
            #expect(try await b.device(a).muted())
            try await eventually { b.broker?.muted[a.id.description] == true }
            try await a.peer(b).invite(activity: activity)
            #expect(b.broker?.saw("invite \(activity)") == false)
            let stored = TrustStore(in: StateFolder(b.folder.path("state")))
            try stored.load()
            #expect(stored[a.id]?.isMuted == true)
            try b.bridge.unpair(a.id)
            await expectError("org.example.Handoff.Error.NotPaired") { try b.bridge.setMuted(true, a.id) }
            try b.bridge.trust(a.id, name: "")
            #expect(b.bridge.state.trust[a.id]?.isMuted == false)
        }
    }

    @Test("pairing anew leaves a peer muted")
    func pairingAnew() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            try b.bridge.setMuted(true, a.id)
            try b.bridge.state.trust.pair(TrustEntry(a.id, source: .pairing, isMutual: true))
            #expect(b.bridge.state.trust[a.id]?.isMuted == true)
        }
    }

    @Test("a new broker hears of what was sent, unless it is being continued already")
    func newBroker() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            try await a.device(b).send()
            try await eventually { b.broker?.saw("invite \(activity)") == true }
            let time = try #require(b.broker?.invitedAt.first ?? nil)
            let broker = try await b.restartBroker()
            try await eventually { broker.saw("invite \(activity)") }
            #expect(broker.invitedAt == [time])
            _ = try await b.peer(a).fetch(activity: activity, continuation: other)
            let last = try await b.restartBroker()
            try await eventually { last.saw("offer \(activity)") }
            try await a.peer(b).withdraw(activity: other)
            #expect(!last.saw("invite \(activity)"))
        }
    }
}
