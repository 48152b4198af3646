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
private let continuation = "00112233445566778899aabbccddeeff"
private let summary: [String: Value] = [
    "ActivityType": .string("com.example.edit"), "ApplicationId": .string("com.example.Notes"),
]

@Suite("Two bridges", .serialized)
struct TwoBridgesTests {
    @Test("Connect to a stranger shows the device, unpaired")
    func connect() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            b.bridge.discoverability.set(true)
            let path = try await a.proxy.connect(address: b.address)
            #expect(path.text == "/org/example/Handoff/Bridge/devices/\(b.id)")
            #expect(try await a.device(b).connected())
            #expect(try await !a.device(b).paired())
            #expect(try await a.device(b).addresses() == [b.address])
            #expect(a.broker?.events == [])
        }
    }

    @Test("a discoverable device tells a stranger its name")
    func discoverable() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await b.proxy.setDeviceName("Büro")
            try await b.proxy.setDiscoverable(true)
            _ = try await a.proxy.connect(address: b.address)
            #expect(try await a.device(b).name() == "Büro")
            // The other side may see the link a moment later.
            try await eventually { b.bridge.links.current[a.id] != nil }
            #expect(try await b.device(a).name() == "")
        }
    }

    @Test("devices that trust each other are paired, whichever of them is connected first")
    func trust() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            b.bridge.discoverability.set(true)
            _ = try await a.proxy.connect(address: b.address)
            _ = try await b.proxy.trust(deviceId: a.id.description, name: "Mine")
            b.bridge.discoverability.set(false)
            #expect(try await b.device(a).paired())
            #expect(b.link(with: a) == nil)
            _ = try await a.proxy.trust(deviceId: b.id.description, name: "")
            try await eventually { a.link(with: b) != nil && b.link(with: a) != nil }
            try await eventually {
                a.broker?.saw("add \(b.id)") == true && b.broker?.saw("add \(a.id)") == true
            }
            #expect(a.bridge.state.trust[b.id]?.isMutual == true)
            #expect(a.bridge.state.trust[b.id]?.addresses.map(\.description) == [b.address])
        }
    }

    @Test("an offer reaches all peers, is replaced, and is withdrawn")
    func offer() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            try await a.allPeers().offer(activity: activity, summary: summary)
            try await eventually { b.broker?.saw("offer \(activity)") == true }
            try await a.allPeers().offer(activity: other, summary: summary)
            try await a.allPeers().withdraw(activity: activity)
            try await a.allPeers().withdraw(activity: other)
            try await eventually { b.broker?.saw("withdraw \(other)") == true }
            #expect(b.broker?.saw("withdraw \(activity)") == false)
        }
    }

    @Test("the age of an offer crosses, not its time")
    func age() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            let since = MainLoop.wallClock - 3_600_000_000
            try await a.allPeers().offer(
                activity: activity, summary: summary.merging(["Since": .int64(since)]) { $1 })
            try await eventually { b.broker?.summaries[activity] != nil }
            guard case .int64(let told)? = b.broker?.summaries[activity]?["Since"] else {
                Issue.record("Since is missing")
                return
            }
            #expect(abs(told - since) < 5_000_000)
        }
    }

    @Test("an offer made before there is a link is sent when it comes up")
    func earlyOffer() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.allPeers().offer(activity: activity, summary: summary)
            try await a.pair(with: b)
            try await eventually { b.broker?.saw("offer \(activity)") == true }
        }
    }

    @Test("Fetch, Continued and Release reach the broker of the origin, and its answer comes back")
    func fetch() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            a.broker?.onFetch = { _, _ in
                ["Title": .string("Letter"), "UserInfo": .properties(["n": .uint32(7)])]
            }
            let fetched = try await b.peer(a).fetch(activity: activity, continuation: continuation)
            #expect(
                try fetched.unpacked() == [
                    "Title": .string("Letter"), "UserInfo": .properties(["n": .uint32(7)]),
                ])
            try await b.peer(a).continued(continuation: continuation)
            try await b.peer(a).release(continuation: continuation)
            #expect(
                a.broker?.events.suffix(3) == [
                    "fetch \(activity) \(continuation)", "continued \(continuation)",
                    "release \(continuation)",
                ])
        }
    }

    @Test("an error of the other broker keeps its name if it is ours, and is ApplicationFailed if not")
    func errors() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            a.broker?.onFetch = { _, _ in throw HandoffFailure(.offerWithdrawn, "gone") }
            await expectError("org.example.Handoff.Error.OfferWithdrawn") {
                try await b.peer(a).fetch(activity: activity, continuation: continuation)
            }
            a.broker?.onFetch = { _, _ in throw DBusError("com.example.Odd", "odd") }
            await expectError("org.example.Handoff.Error.ApplicationFailed") {
                try await b.peer(a).fetch(activity: activity, continuation: continuation)
            }
            await expectError("org.freedesktop.DBus.Error.NotSupported") {
                _ = try await b.peer(a).openStream(continuation: continuation)
            }
            await expectError("org.freedesktop.DBus.Error.InvalidArgs") {
                try await b.peer(a).fetch(activity: "../..", continuation: continuation)
            }
        }
    }

    @Test("large answers cross whole, many at a time, and one that is too large is an error")
    func largeAnswers() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            try await eventually { a.broker?.saw("add \(b.id)") == true }
            let bytes = (0..<250_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
            a.broker?.onFetch = { _, _ in ["UserInfo": .bytes(bytes)] }
            let peer = try b.peer(a)
            let fetches = (0..<40).map { _ in
                MainLoop.start {
                    try await peer.fetch(activity: activity, continuation: continuation).unpacked()
                }
            }
            for fetch in fetches { #expect(try await fetch.value == ["UserInfo": .bytes(bytes)]) }
            let large = [UInt8](repeating: 1, count: 330_000)
            a.broker?.onFetch = { _, _ in ["UserInfo": .bytes(large)] }
            await expectError("org.freedesktop.DBus.Error.LimitsExceeded") {
                try await peer.fetch(activity: activity, continuation: continuation)
            }
            #expect(b.link(with: a) != nil)
        }
    }

    @Test("a name that changes often arrives as it is in the end, and costs nobody the link")
    func nameFlood() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            let number = try #require(a.link(with: b)).number
            for name in 1...40 { try await a.proxy.setDeviceName("Name \(name)") }
            try await eventually { b.bridge.state.label(of: a.id) == "“Name 40”" }
            #expect(a.link(with: b)?.number == number)
        }
    }

    @Test("only the broker may use the way to peers")
    func brokerOnly() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            let path = try HandoffNames.bridgePeers.appending(b.id.description)
            for path in [path, HandoffNames.bridgePeers] {
                let proxy = PeerProxy(RemoteObject(a.client.connection, HandoffNames.bridge, path))
                let calls: [@MainLoop () async throws -> Void] = [
                    { try await proxy.offer(activity: activity, summary: summary) },
                    { try await proxy.withdraw(activity: activity) },
                    { try await proxy.invite(activity: activity) },
                    { _ = try await proxy.fetch(activity: activity, continuation: continuation) },
                    { try await proxy.continued(continuation: continuation) },
                    { try await proxy.release(continuation: continuation) },
                    { _ = try await proxy.openStream(continuation: continuation) },
                    { _ = try await proxy.openDocument(continuation: continuation) },
                ]
                for call in calls {
                    await expectError("org.freedesktop.DBus.Error.AccessDenied") { try await call() }
                }
            }
            let listed = try await a.proxy.object.managedObjects()
            #expect(listed.keys.map(\.text) == ["/org/example/Handoff/Bridge/devices/\(b.id)"])
        }
    }

    @Test("Unpair ends the pairing on both sides, and the peers go from both brokers")
    func unpair() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            try await eventually {
                b.broker?.saw("add \(a.id)") == true && a.broker?.saw("add \(b.id)") == true
            }
            try await a.device(b).unpair()
            try await eventually { b.broker?.saw("remove \(a.id)") == true }
            try await eventually { a.broker?.saw("remove \(b.id)") == true }
            #expect(b.bridge.state.trust.entries.isEmpty)
            // Who was unpaired can be told of that; who has unpaired knows.
            let ended = try await b.proxy.endedPairings()
            #expect(ended.count == 1 && ended.first?["DeviceId"] == .string(a.id.description))
            #expect(try await a.proxy.endedPairings().isEmpty)
            try await eventually { a.bridge.links.current.isEmpty && b.bridge.links.current.isEmpty }
            #expect(try await a.proxy.object.managedObjects().isEmpty)
            _ = try await b.proxy.trust(deviceId: a.id.description, name: "")
            #expect(try await b.proxy.endedPairings().isEmpty)
        }
    }

    @Test("a device that was unpaired while it was away learns of it when it connects")
    func unpairedWhileAway() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            let entry = try #require(b.bridge.state.trust[a.id])
            #expect(entry.isMutual)
            b.broker?.setEnabled(false)
            try await eventually { a.bridge.links.current.isEmpty }
            try await a.device(b).unpair()
            b.broker?.setEnabled(true)
            try await eventually { b.bridge.port != 0 }
            _ = try await b.proxy.connect(address: a.address)
            try await eventually { b.bridge.state.trust.entries.isEmpty }
        }
    }

    @Test("the switch closes the links and the port, and opens them again")
    func enabled() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            try await a.pair(with: b)
            a.broker?.setEnabled(false)
            try await eventually { a.bridge.port == 0 && b.link(with: a) == nil }
            await expectError("org.example.Handoff.Error.Disabled") {
                _ = try await a.proxy.connect(address: b.address)
            }
            a.broker?.setEnabled(true)
            try await eventually { b.link(with: a) != nil && a.link(with: b) != nil }
        }
    }

    @Test("a bridge that is started while Handoff is off does not listen")
    func startedDisabled() async throws {
        try await onLoop {
            let a = try await TestDevice.start(isEnabled: false)
            try await eventually { a.bridge.broker.isEnabled == false }
            #expect(a.bridge.port == 0)
        }
    }
}

/// Expects `body` to throw the D-Bus error `name`, whose message has `text`.
@MainLoop
func expectError(
    _ name: String, saying text: String = "", location: SourceLocation = #_sourceLocation,
    _ body: @MainLoop () async throws -> some Any
) async {
    do {
        let result = try await body()
        Issue.record("no error but \(result)", sourceLocation: location)
    } catch {
        let error = DBusError.converting(error)
        #expect(error.name.text == name, "\(error)", sourceLocation: location)
        #expect(text.isEmpty || error.message.contains(text), "\(error)", sourceLocation: location)
    }
}
