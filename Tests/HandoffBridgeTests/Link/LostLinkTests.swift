// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import HandoffSession
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

private let activity = "0123456789abcdef0123456789abcdef"
private let continuation = "00112233445566778899aabbccddeeff"
private let summary: [String: Value] = ["ActivityType": .string("com.example.edit")]

@Suite("Links that are lost, doubled and made again", .serialized)
struct LostLinkTests {
    @Test("a lost link is made again, and the offer outlives that")
    func redial() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            try await a.allPeers().offer(activity: activity, summary: summary)
            try await eventually { b.broker?.saw("offer \(activity)") == true }
            let number = try #require(a.link(with: b)).number
            a.link(with: b)?.close("for the test")
            try await eventually {
                a.link(with: b).map { $0.number > number } == true && b.link(with: a) != nil
            }
            try await letPass(.milliseconds(1200))
            #expect(b.broker?.saw("withdraw \(activity)") == false)
        }
    }

    @Test("an offer that is not repeated on the new link is withdrawn after a second")
    func unrepeated() async throws {
        try await onLoop {
            let device = try await TestDevice.start()
            let raw = try RawDevice()
            _ = try await device.proxy.trust(deviceId: raw.id.description, name: "")
            try await raw.link(to: device)
            let withdrawals = { device.broker?.events.count { $0 == "withdraw \(activity)" } ?? 0 }
            var before = 0
            // On a busy machine, the new link may come so late that the offer has ended because there was
            // none.
            repeat {
                _ = try await raw.call("org.example.Handoff.Peer", "Offer") { (writer) throws(DBusError) in
                    try writer.write(activity)
                    try writer.write(summary)
                }
                before = withdrawals()
                raw.close()
                // The device does not keep the secret.
                device.bridge.discoverability.set(true)
                try await raw.link(to: device)
            } while withdrawals() > before
            // With a link, the offer would stay.
            try await eventually { withdrawals() > before }
        }
    }

    @Test("what is said of a link that has ended meanwhile does not make it the one with its device")
    func late() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            let link = try #require(a.link(with: b))
            link.close("for the test")
            link.tellHello()
            #expect(a.bridge.links.current[b.id] == nil)
        }
    }

    @Test("what a peer asks in one piece with the answer that its link comes about by reaches the broker")
    func atOnce() async throws {
        try await onLoop {
            let (device, raw) = (try await TestDevice.start(), try RawDevice())
            device.broker?.onFetch = { _, _ in ["Title": .string("fetched")] }
            _ = try await device.proxy.trust(deviceId: raw.id.description, name: "")
            try await raw.connect(to: device)
            try raw.send(raw.hello())
            try await eventually {
                raw.messages.contains { $0.kind == .reply } && raw.messages.contains { $0.kind == .call }
            }
            let fetch = try Message.call(to: nil, "/", "org.example.Handoff.Peer", "Fetch")
            var writer = MessageWriter(fetch)
            try writer.write(activity)
            try writer.write(activity)
            var pieces = try raw.messages.filter { $0.kind == .call }.map { try Message.reply(to: $0) }
            pieces.append(fetch)
            var bytes: [UInt8] = []
            for (index, message) in pieces.enumerated() {
                message.setSerial(1000 + UInt32(index))
                bytes += try message.marshal()
            }
            raw.send(bytes)
            try await eventually { raw.answer(to: 999 + UInt32(pieces.count)) != nil }
            #expect(raw.answer(to: 999 + UInt32(pieces.count))?.kind == .reply)
        }
    }

    @Test("a peer that is gone loses its offer after five seconds")
    func gone() async throws {
        try await onLoop {
            let (device, raw) = (try await TestDevice.start(), try RawDevice())
            _ = try await device.proxy.trust(deviceId: raw.id.description, name: "")
            try await raw.link(to: device)
            _ = try await raw.call("org.example.Handoff.Peer", "Offer") { (writer) throws(DBusError) in
                try writer.write(activity)
                try writer.write(summary)
            }
            try await eventually { device.broker?.saw("offer \(activity)") == true }
            let start = MainLoop.now
            raw.close()
            try await eventually { device.broker?.saw("withdraw \(activity)") == true }
            #expect(MainLoop.now - start >= 4_900_000)
        }
    }

    @Test("a peer whose bridge ends takes its offer along")
    func ended() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            try await a.allPeers().offer(activity: activity, summary: summary)
            try await eventually { b.broker?.saw("offer \(activity)") == true }
            a.bridge.end()
            try await eventually { b.link(with: a) == nil }
            let lost = MainLoop.now
            try await eventually { b.broker?.saw("withdraw \(activity)") == true }
            // As one of a link that was cut would.
            #expect(MainLoop.now - lost < PeerOffer.withoutLink)
        }
    }

    @Test("a Fetch that loses its link is repeated on the next one")
    func fetchRepeated() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            try await eventually { b.broker?.saw("add \(a.id)") == true }
            b.broker?.onFetch = { [weak a, weak b] _, _ in
                guard let a, let b, b.broker?.events.count(where: { $0.hasPrefix("fetch") }) == 1 else {
                    return ["Title": .string("second")]
                }
                a.link(with: b)?.close("for the test")
                try await MainLoop.sleep(for: .seconds(1))
                return ["Title": .string("first")]
            }
            let fetched = try await a.peer(b).fetch(activity: activity, continuation: continuation)
            #expect(try fetched.unpacked() == ["Title": .string("second")])
        }
    }

    @Test("a Fetch without a link waits for one, and then says that there is none")
    func fetchWithoutLink() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            b.broker?.setEnabled(false)
            try await eventually { a.link(with: b) == nil }
            let start = MainLoop.now
            await expectError("org.example.Handoff.Error.ConnectionUnavailable") {
                try await a.peer(b).fetch(activity: activity, continuation: continuation)
            }
            #expect(MainLoop.now - start >= 4_900_000)
            try await a.device(b).unpair()
            await expectError("org.freedesktop.DBus.Error.UnknownObject") {
                try await a.peer(b).fetch(activity: activity, continuation: continuation)
            }
        }
    }

    @Test("dials in both directions at once end in one link, the same on both sides")
    func bothDial() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            for _ in 0..<10 {
                a.link(with: b)?.close("for the test")
                // If more connections than these came in a second, they would be refused.
                try await MainLoop.sleep(for: .milliseconds(500))
                let (addressA, addressB) = (a.address, b.address)
                let (proxyA, proxyB) = (a.proxy, b.proxy)
                let first = MainLoop.start { try await proxyA.connect(address: addressB) }
                let second = MainLoop.start { try await proxyB.connect(address: addressA) }
                _ = try await first.value
                _ = try await second.value
                try await eventually {
                    guard let one = a.link(with: b), let other = b.link(with: a) else { return false }
                    return one.isDialled != other.isDialled && a.bridge.links.all(with: b.id).count == 1
                        && b.bridge.links.all(with: a.id).count == 1
                }
            }
        }
    }

    @Test("a restarted broker is told the peers and their offers again, and our offer is withdrawn")
    func brokerRestart() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            try await a.allPeers().offer(activity: activity, summary: summary)
            try await eventually { b.broker?.saw("offer \(activity)") == true }
            let broker = try await b.restartBroker()
            try await eventually { broker.saw("offer \(activity)") }
            #expect(broker.events == ["add \(a.id)", "offer \(activity)"])
            try await a.stopBroker()
            try await eventually { broker.saw("withdraw \(activity)") }
            #expect(a.link(with: b) != nil)
            await expectError("org.example.Handoff.Error.ConnectionUnavailable") {
                try await b.peer(a).fetch(activity: activity, continuation: continuation)
            }
        }
    }

    @Test("a new broker is told first what was offered before, then what is offered by then")
    func brokerRestartAndOffer() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            try await a.allPeers().offer(activity: activity, summary: summary)
            try await eventually { b.broker?.saw("offer \(activity)") == true }
            let (peer, link) = (try #require(b.bridge.peers[a.id]), try #require(b.link(with: a)))
            let second = try ActivityID(checking: String(activity.reversed()))
            b.broker?.events = []
            peer.brokerAppeared()
            try await peer.offered(second, summary, over: link)
            #expect(b.broker?.events == ["offer \(activity)", "offer \(second)"])
        }
    }

    @Test(
        "what a broker is continuing is not released when the socket to it ends, as in a bridge that is replaced"
    )
    func lostSocket() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            try await eventually { b.broker?.saw("add \(a.id)") == true }
            _ = try await a.peer(b).fetch(activity: activity, continuation: continuation)
            let broker = try #require(a.broker)
            let met = broker.events.count { $0 == "add \(b.id)" }
            broker.bus.connection.detach(a.bridge.bus.uniqueName)
            try await eventually { broker.events.count { $0 == "add \(b.id)" } > met }
            try await a.peer(b).continued(continuation: continuation)
            #expect(b.broker?.events.last == "continued \(continuation)")
            #expect(b.broker?.saw("release \(continuation)") == false)
        }
    }

    @Test("what a broker was continuing is released when it is gone, but not what it has released itself")
    func orphans() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            try await eventually { b.broker?.saw("add \(a.id)") == true }
            let second = String(continuation.reversed())
            for id in [continuation, second, continuation] {
                _ = try await a.peer(b).fetch(activity: activity, continuation: id)
            }
            try await a.peer(b).release(continuation: second)
            try await a.stopBroker()
            let released = { b.broker?.events.filter { $0.hasPrefix("release") } ?? [] }
            try await eventually { released().count == 2 }
            #expect(released() == ["release \(second)", "release \(continuation)"])
        }
    }

    @Test("a bridge that is started again is the same device and finds its peers by itself")
    func bridgeRestart() async throws {
        try await onLoop {
            let b = try await TestDevice.start()
            let (bus, folder) = (MemoryBus(), try TemporaryDirectory())
            var a: TestDevice? = try await TestDevice.start(bus, folder)
            try await eventually { a?.bridge.port != 0 }
            try await a?.pair(with: b)
            let id = try #require(a?.id)
            a?.bridge.end()
            try await a?.bridge.bus.release(HandoffNames.bridge)
            a = nil
            try await eventually { b.bridge.links.current.isEmpty }
            let again = try await eventuallyStarts(bus, folder)
            #expect(again.id == id)
            try await eventually { again.link(with: b) != nil }
        }
    }

    @Test("what a broker asks of a bridge that has just begun waits for the link")
    func askedAtOnce() async throws {
        try await onLoop {
            let b = try await TestDevice.start()
            let (bus, folder) = (MemoryBus(), try TemporaryDirectory())
            let broker = try await FakeBroker.start(on: bus, isEnabled: true)
            var a: TestDevice? = try await TestDevice.start(bus, folder)
            try await eventually { a?.bridge.port != 0 }
            try await a?.pair(with: b)
            a?.bridge.end()
            try await a?.bridge.bus.release(HandoffNames.bridge)
            a = nil
            let again = try await TestDevice.start(bus, folder)
            #expect(again.bridge.broker.isEnabled == nil)
            let peer = try #require(again.bridge.peers[b.id])
            try await peer.call("Release") { proxy, timeout in
                try await proxy.release(continuation: continuation, timeout: timeout)
            }
            #expect(b.broker?.saw("release \(continuation)") == true && broker.saw("add \(b.id)"))
        }
    }

    /// The state folder is free when the last task of the former bridge has ended.
    @MainLoop
    private func eventuallyStarts(_ bus: MemoryBus, _ folder: TemporaryDirectory) async throws -> TestDevice {
        var device: TestDevice?
        for _ in 0..<100 where device == nil {
            device = try? await TestDevice.start(bus, folder)
            try await MainLoop.sleep(for: .milliseconds(20))
        }
        return try #require(device)
    }

    @Test("of two peers with one name the second gets a number")
    func names() async throws {
        try await onLoop {
            let (a, b, c) = (
                try await TestDevice.start(), try await TestDevice.start(), try await TestDevice.start()
            )
            try await b.proxy.setDeviceName("Desk")
            try await c.proxy.setDeviceName("Desk")
            try await a.pair(with: b)
            try await a.pair(with: c)
            #expect(try await a.device(b).name() == "Desk")
            #expect(try await a.device(c).name() == "Desk (2)")
            try await eventually { a.broker?.names[c.id.description] == "Desk (2)" }
            try await c.proxy.setDeviceName("Lap")
            try await eventually { a.broker?.names[c.id.description] == "Lap" }
        }
    }
}
