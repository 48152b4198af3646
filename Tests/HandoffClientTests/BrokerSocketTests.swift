// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@Suite("A client that leaves the bus out", .timeLimit(.minutes(1)))
struct BrokerSocketTests {
    private static let declaration = ClientDeclaration(
        applicationID: "com.example.notes", activityTypes: ["com.example.notes.edit"])

    @MainLoop
    private static func started(
        _ session: TestBus, opensSockets: Bool = true
    ) async throws -> (FakeBroker, HandoffClient, Recorder) {
        let broker = try await FakeBroker.start(on: session)
        broker.opensSockets = opensSockets
        countCreations(broker)
        let (client, recorder) = (HandoffClient(.address(session.address)), Recorder())
        client.delegate = recorder
        client.start(declaration)
        try await eventually { client.standing == .registered }
        return (broker, client, recorder)
    }

    @MainLoop
    private static func countCreations(_ broker: FakeBroker) {
        var created = 0
        broker.onCreate = {
            created += 1
            return try ObjectPath("/org/example/Handoff/activities/\(created)")
        }
    }

    @Test("says all but its registration past the bus, by one socket, however often it registers")
    func past() async throws {
        try await onLoop {
            let (broker, client, recorder) = try await Self.started(try await TestBus.start())
            client.create(ActivityKey(1), type: "", properties: [:])
            try await eventually { recorder.paths[ActivityKey(1)] != nil }
            client.start(Self.declaration)
            try await eventually { broker.registered.count == 2 }
            client.create(ActivityKey(2), type: "", properties: [:])
            try await eventually { recorder.paths[ActivityKey(2)] != nil }
            #expect(broker.creations == ["past the bus", "past the bus"])
            #expect(broker.sockets.count == 1)
            let context: [String: Value] = [
                "Continuation": .objectPath("/org/example/Handoff/continuations/1"),
                "DeviceId": .string("d"), "DeviceName": .string("Another"),
            ]
            let shows = try await #require(broker.proxy).willContinueActivity(
                activityType: "t", context: context)
            #expect(shows)
            #expect(recorder.events == ["will t"])
        }
    }

    @Test("lacks nothing with a broker that has no sockets")
    func without() async throws {
        try await onLoop {
            let (broker, client, recorder) = try await Self.started(
                try await TestBus.start(), opensSockets: false)
            client.create(ActivityKey(1), type: "", properties: [:])
            try await eventually { recorder.paths[ActivityKey(1)] != nil }
            #expect(broker.creations == ["on the bus"])
        }
    }

    @Test("talks on the bus to a broker that does not answer")
    func unanswered() async throws {
        try await onLoop {
            let session = try await TestBus.start()
            let broker = try await FakeBroker.start(on: session)
            broker.keepsWaiting = true
            Self.countCreations(broker)
            let (client, recorder) = (HandoffClient(.address(session.address)), Recorder())
            client.delegate = recorder
            client.start(Self.declaration)
            client.create(ActivityKey(1), type: "", properties: [:])
            try await eventually { broker.creations == ["on the bus"] }
            #expect(client.standing == .registered)
        }
    }

    @Test("registers anew when the socket ends at once, and then talks on the bus")
    func ended() async throws {
        try await onLoop {
            let (broker, client, recorder) = try await Self.started(try await TestBus.start())
            client.create(ActivityKey(1), type: "", properties: [:])
            try await eventually { recorder.paths[ActivityKey(1)] != nil }
            broker.endSocket()
            try await eventually { broker.creations.count == 2 }
            #expect(broker.creations == ["past the bus", "on the bus"])
            #expect(broker.registered.count == 2)
            #expect(recorder.standings == [.registered, .registered])
            #expect(recorder.events.isEmpty)
        }
    }

    @Test("opens another one to another broker")
    func another() async throws {
        try await onLoop {
            let session = try await TestBus.start()
            let (former, client, recorder) = try await Self.started(session)
            client.create(ActivityKey(1), type: "", properties: [:])
            try await eventually { recorder.paths[ActivityKey(1)] != nil }
            let broker = try await FakeBroker.start(on: session)
            Self.countCreations(broker)
            try await eventually { broker.creations == ["past the bus"] }
            #expect(former.creations.count == 1)
        }
    }

    @Test("leaves the bus, and with it the socket, when it stops")
    func stopped() async throws {
        try await onLoop {
            let (broker, client, _) = try await Self.started(try await TestBus.start())
            var isEnded = false
            let socket = try #require(broker.sockets.first)
            socket.onEnded = { isEnded = true }
            client.stop()
            try await eventually { isEnded }
        }
    }
}
