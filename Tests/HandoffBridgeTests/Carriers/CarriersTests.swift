// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

/// A carrier within this process, from one device to another.
@MainLoop
private final class TestCarrier: CarrierServer {
    /// Why it does not connect; nil if it does.
    var failure: DBusError?
    /// How often it was asked, and how often it has connected.
    private(set) var (calls, connections) = (0, 0)
    /// Comes when it may connect.
    private let mayConnect = Awaited<Void>()
    private let bus: Bus
    private let target: TestDevice

    /// A carrier on a connection of its own to the bus of `origin`, called `label` there.
    static func register(
        from origin: TestDevice, to target: TestDevice, _ label: String = "pigeon",
        failing: DBusError? = nil, holding isHolding: Bool = false
    ) async throws -> TestCarrier {
        let carrier = TestCarrier(origin.bus.connect(), target)
        if !isHolding { carrier.goOn() }
        carrier.failure = failing
        try await carrier.register(to: target.id.description, label)
        return carrier
    }

    init(_ bus: Bus, _ target: TestDevice) {
        (self.bus, self.target) = (bus, target)
        bus.connection.policy = AllowAll()
        bus.connection.objects.export("/carrier", [CarrierBinding(self)])
    }

    func register(to device: String, _ label: String) async throws {
        let bridge = BridgeProxy(RemoteObject(bus.connection, HandoffNames.bridge, HandoffNames.bridgePath))
        try await bridge.registerCarrier(deviceId: device, carrier: "/carrier", label: label)
    }

    func connect(_ call: MethodCall) async throws -> FileDescriptor {
        calls += 1
        if let failure { throw failure }
        _ = await mayConnect.value(within: nil)
        let pair = try FileDescriptor.socketPair()
        try await target.proxy.carry(connection: pair.theirs)
        connections += 1
        return pair.ours
    }

    /// It connects from now on.
    func goOn() { mayConnect.come(()) }

    /// Leaves the bus.
    func leave() { bus.leave() }
}

@Suite("Carriers", .serialized)
struct CarriersTests {
    /// Two devices that trust each other and have no way to each other.
    @MainLoop private func apart() async throws -> (TestDevice, TestDevice) {
        let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
        _ = try await a.proxy.trust(deviceId: b.id.description, name: "")
        _ = try await b.proxy.trust(deviceId: a.id.description, name: "")
        return (a, b)
    }

    @MainLoop private func areLinked(_ a: TestDevice, _ b: TestDevice) -> Bool {
        a.link(with: b) != nil && b.link(with: a) != nil
    }

    @Test("where there is no direct way a carrier brings the link, and a direct one takes its place")
    func link() async throws {
        try await onLoop {
            let (a, b) = try await apart()
            let carrier = try await TestCarrier.register(from: a, to: b)
            try await eventually { areLinked(a, b) }
            #expect(try await a.device(b).way() == "carried")
            #expect(try await b.device(a).way() == "carried")
            #expect(try await a.device(b).connectedAddress() == "by pigeon")
            #expect(try await b.device(a).connectedAddress() == "by a carrier")
            #expect(try await a.device(b).addresses() == [])
            #expect(a.link(with: b)?.pulse != nil && b.link(with: a)?.pulse != nil)
            let summary: [String: Value] = [
                "ActivityType": .string("com.example.edit"), "ApplicationId": .string("com.example.Notes"),
            ]
            let activity = "0123456789abcdef0123456789abcdef"
            try await a.allPeers().offer(activity: activity, summary: summary)
            try await eventually { b.broker?.saw("offer \(activity)") == true }
            let calls = carrier.calls
            _ = try await a.proxy.connect(address: b.address)
            try await eventually {
                a.link(with: b)?.way == .sameNetwork && b.link(with: a)?.way == .sameNetwork
            }
            #expect(carrier.calls == calls)
            // Another carrier is not asked while there is a direct link.
            let other = try await TestCarrier.register(from: b, to: a)
            b.bridge.dials.dialNow(a.id)
            // What was begun before this is answered has had its turn.
            _ = try await b.device(a).way()
            #expect(other.calls == 0 && b.link(with: a)?.way == .sameNetwork)
            #expect(a.link(with: b)?.pulse == nil)
        }
    }

    @Test("the carrier that came last is asked first, and one that has left is not")
    func order() async throws {
        try await onLoop {
            let (a, b) = try await apart()
            let failure = DBusError(.failed, "The pigeon is ill.")
            let first = try await TestCarrier.register(from: a, to: b, "first", failing: failure)
            let second = try await TestCarrier.register(from: a, to: b, "second", failing: failure)
            #expect(a.bridge.carriers.to(b.id).map(\.label) == ["second", "first"])
            try await eventually { first.calls > 0 && second.calls > 0 }
            try await eventually {
                a.bridge.dials.errors[b.id]?.text.contains("by first: The pigeon is ill.") == true
            }
            second.failure = nil
            try await eventually { areLinked(a, b) }
            #expect(try await a.device(b).connectedAddress() == "by second")
            second.leave()
            try await eventually { a.bridge.carriers.to(b.id).map(\.label) == ["first"] }
            // What is carried goes on without the carrier.
            #expect(areLinked(a, b))
        }
    }

    @Test(
        "a stream that is under way when a direct link comes goes on until it ends, and what has carried it with it"
    )
    func streams() async throws {
        try await onLoop {
            let (a, b) = try await apart()
            let carrier = try await TestCarrier.register(from: a, to: b)
            try await eventually { areLinked(a, b) }
            var here: End?
            a.broker?.onOpenStream = { _ in
                let pair = try StreamSocket.makePair()
                here = End(pair.theirs)
                return pair.ours
            }
            let there = End(
                try await b.peer(a).openStream(continuation: "00112233445566778899aabbccddeeff"))
            #expect(carrier.calls == 2)
            let carried = try #require(a.link(with: b))
            _ = try await a.proxy.connect(address: b.address)
            try await eventually {
                a.link(with: b)?.way == .sameNetwork && b.link(with: a)?.way == .sameNetwork
            }
            #expect(!carried.isClosed)
            here?.write([1, 2, 3])
            there.write([4, 5])
            here?.endWriting()
            there.endWriting()
            try await eventually { there.hasEnded() && here?.hasEnded() == true }
            #expect(there.ending == 0 && there.bytes == [1, 2, 3])
            #expect(here?.ending == 0 && here?.bytes == [4, 5])
            here?.close()
            there.close()
            try await eventually {
                carried.isClosed && a.bridge.links.all(with: b.id).count == 1
                    && b.bridge.links.all(with: a.id).count == 1
            }
        }
    }

    @Test("a peer that is unpaired while a carrier connects is not linked, and its carriers are forgotten")
    func unpaired() async throws {
        try await onLoop {
            let (a, b) = try await apart()
            let carrier = try await TestCarrier.register(from: a, to: b, "slow", holding: true)
            try await eventually { carrier.calls == 1 }
            try await a.device(b).unpair()
            carrier.goOn()
            #expect(a.bridge.carriers.to(b.id).isEmpty)
            // The other side has the connection, and is told nothing.
            try await eventually { carrier.connections == 1 }
            _ = try await a.proxy.port()
            #expect(a.bridge.links.all(with: b.id).isEmpty)
        }
    }

    @Test("there are at most 64 carriers")
    func many() async throws {
        try await onLoop {
            let (a, b) = try await apart()
            let client = a.bus.connect()
            let bridge = BridgeProxy(
                RemoteObject(client.connection, HandoffNames.bridge, HandoffNames.bridgePath))
            for number in 0..<Carriers.maximum {
                let path = try ObjectPath("/carrier\(number)")
                try await bridge.registerCarrier(deviceId: b.id.description, carrier: path, label: "x")
            }
            await expectError("org.freedesktop.DBus.Error.LimitsExceeded") {
                try await bridge.registerCarrier(deviceId: b.id.description, carrier: "/one", label: "x")
                return 0
            }
            // Another label is no other carrier.
            try await bridge.registerCarrier(deviceId: b.id.description, carrier: "/carrier0", label: "y")
            #expect(a.bridge.carriers.to(b.id).first?.label == "y")
        }
    }

    @Test(
        "a label that can't be shown, and a device that is no peer, are refused",
        arguments: ["", " ", "a\nb", "a\u{202E}b", String(repeating: "x", count: 65)])
    func refused(label: String) async throws {
        try await onLoop {
            let (a, b) = try await apart()
            let carrier = TestCarrier(a.bus.connect(), b)
            func error(_ device: String, _ label: String) async -> ErrorName? {
                do { try await carrier.register(to: device, label) } catch {
                    return DBusError.converting(error).name
                }
                return nil
            }
            #expect(await error(b.id.description, label) == .invalidArgs)
            #expect(
                await error(String(repeating: "0", count: 64), "x") == HandoffFailure.Code.notPaired.errorName
            )
            #expect(await error("b", "x") == .invalidArgs)
            #expect(a.bridge.carriers.to(b.id).isEmpty)
        }
    }

    @Test("what is no connected stream socket is not carried")
    func noSockets() async throws {
        try await onLoop {
            let (_, b) = try await apart()
            func refusal(_ descriptor: consuming FileDescriptor) async -> String? {
                do {
                    try await b.proxy.carry(connection: descriptor)
                    return nil
                } catch {
                    let error = DBusError.converting(error)
                    return error.name == .invalidArgs ? error.message : "\(error.name)"
                }
            }
            var ends: (Int32, Int32) = (-1, -1)
            _ = withUnsafeMutablePointer(to: &ends) {
                $0.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) }
            }
            let rest = FileDescriptor(owning: ends.1)
            #expect(await refusal(FileDescriptor(owning: ends.0))?.contains("no socket") == true)
            #expect(rest.number >= 0)
            let file = FileDescriptor(owning: open("/dev/null", O_RDWR | O_CLOEXEC))
            #expect(await refusal(file)?.contains("no socket") == true)
            let datagrams = FileDescriptor(owning: socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0))
            #expect(await refusal(datagrams)?.contains("a datagram socket") == true)
            let lonely = FileDescriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
            #expect(await refusal(lonely)?.contains("without a connection") == true)
            let listening = FileDescriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
            #expect(listen(listening.number, 1) == 0)
            #expect(await refusal(listening)?.contains("without a connection") == true)
        }
    }

    @Test("more connections than allowed are refused, with the reason")
    func flood() async throws {
        try await onLoop {
            let (_, b) = try await apart()
            var refusals: [DBusError] = []
            for _ in 0..<40 {
                let pair = try FileDescriptor.socketPair()
                do {
                    try await b.proxy.carry(connection: pair.theirs)
                } catch {
                    refusals.append(DBusError.converting(error))
                }
            }
            #expect(refusals.count >= 30 && refusals.allSatisfy { $0.name == .limitsExceeded })
            #expect(refusals.first?.message.contains("come from carriers") == true)
        }
    }

    @Test("a link that a carrier has brought is asked for a sign of life, and ends without one")
    func pulse() async throws {
        try await onLoop {
            final class Other {
                var (asked, isThere, deaths) = (0, true, 0)
            }
            let other = Other()
            var heard = MainLoop.now
            let pulse = LinkPulse(after: .seconds(1)) {
                heard
            } ask: { time in
                #expect(time == .seconds(20))
                other.asked += 1
                if !other.isThere { throw DBusError(.noReply, "Nobody.") }
                throw DBusError(.accessDenied, "Somebody.")
            } dead: { _ in
                other.deaths += 1
            }
            // As long as something comes nobody is asked.
            let begin = MainLoop.now
            while MainLoop.now - begin < 1_500_000 {
                heard = MainLoop.now
                try await eventually { MainLoop.now - heard > 10_000 }
            }
            let early = other.asked
            try await eventually { other.asked > 1 }
            #expect(early == 0 && other.deaths == 0)
            other.isThere = false
            try await eventually { other.deaths == 1 }
            withExtendedLifetime(pulse) {}
        }
    }
}
