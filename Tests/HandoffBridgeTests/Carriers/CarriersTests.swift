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
    /// How often it was asked.
    private(set) var calls = 0
    private let bus: Bus
    private let target: TestDevice

    /// A carrier on a connection of its own to the bus of `origin`, called `label` there.
    static func register(
        from origin: TestDevice, to target: TestDevice, _ label: String = "pigeon", failing: DBusError? = nil
    ) async throws -> TestCarrier {
        let carrier = TestCarrier(origin.bus.connect(), target)
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
        let pair = try FileDescriptor.socketPair()
        try await target.proxy.carry(connection: pair.theirs)
        return pair.ours
    }

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
            #expect(other.calls == 0 && b.link(with: a)?.way == .sameNetwork)
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
        "a label that can't be shown, a device that is no peer, and too many carriers are refused",
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
            #expect(await refusal(FileDescriptor(owning: ends.0))?.contains("is no socket") == true)
            #expect(rest.number >= 0)
            let file = FileDescriptor(owning: open("/dev/null", O_RDWR | O_CLOEXEC))
            #expect(await refusal(file)?.contains("is no socket") == true)
            let datagrams = FileDescriptor(owning: socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0))
            #expect(await refusal(datagrams)?.contains("none of a stream") == true)
            let lonely = FileDescriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
            #expect(await refusal(lonely)?.contains("not connected") == true)
            let listening = FileDescriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
            #expect(listen(listening.number, 1) == 0)
            #expect(await refusal(listening)?.contains("listens") == true)
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
            let begin = MainLoop.now
            let pulse = LinkPulse(after: .milliseconds(20)) {
                begin
            } ask: { time in
                #expect(time == .seconds(20))
                other.asked += 1
                if !other.isThere { throw DBusError(.noReply, "Nobody.") }
                throw DBusError(.accessDenied, "Somebody.")
            } dead: { _ in
                other.deaths += 1
            }
            try await eventually { other.asked > 2 }
            #expect(other.deaths == 0)
            other.isThere = false
            try await eventually { other.deaths == 1 }
            withExtendedLifetime(pulse) {}
        }
    }
}
