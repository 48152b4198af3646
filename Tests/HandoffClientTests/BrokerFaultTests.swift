// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@Suite("A client and a broker that does what a broker seldom does", .serialized)
struct BrokerFaultTests {
    private static let declaration = ClientDeclaration(
        applicationID: "com.example.notes", activityTypes: ["t"])

    /// The context of a continuation.
    private static func context(_ number: Int) throws -> [String: Value] {
        [
            "Continuation": .objectPath(try ObjectPath("/org/example/Handoff/continuations/\(number)")),
            "DeviceId": .string("d"), "DeviceName": .string("Desk"),
        ]
    }

    /// A client that is registered with a broker.
    @MainLoop
    private static func registered() async throws -> (MemoryBus, FakeBroker, HandoffClient, Recorder) {
        let (bus, recorder) = (MemoryBus(), Recorder())
        let broker = try await FakeBroker.start(on: bus)
        let client = HandoffClient(.memory(bus))
        client.delegate = recorder
        client.start(declaration)
        try await eventually { recorder.standings == [.registered] }
        return (bus, broker, client, recorder)
    }

    @Test(
        "what was announced and did not come has failed, once, when the broker dies; what was handed over has not"
    )
    func dying() async throws {
        try await onLoop {
            let (bus, broker, client, recorder) = try await Self.registered()
            let proxy = try #require(broker.proxy)
            _ = try await proxy.willContinueActivity(activityType: "t", context: Self.context(1))
            _ = try await proxy.willContinueActivity(activityType: "u", context: Self.context(2))
            _ = try await proxy.continueActivity(
                activity: ["SupportsContinuationStreams": .boolean(true)], context: Self.context(2))
            broker.bus.leave()
            try await eventually { recorder.standings.last == .absent }
            #expect(recorder.events == ["will t", "will u", "continue", "failed t", "ended"])
            // A stream cannot be had any more, and nobody waits for it.
            await #expect(throws: DBusError.self) {
                _ = try await client.openStream(recorder.continuations[1]).number
            }
            _ = try await FakeBroker.start(on: bus)
            try await eventually { recorder.standings.last == .registered }
            #expect(recorder.events.count == 5)
        }
    }

    @Test("when the bus ends, what was announced has failed, and nothing waits for an answer")
    func busEnds() async throws {
        try await onLoop {
            let (_, broker, client, recorder) = try await Self.registered()
            let proxy = try #require(broker.proxy)
            _ = try await proxy.willContinueActivity(activityType: "t", context: Self.context(1))
            broker.unanswered = "CreateActivity"
            client.create(ActivityKey(1), type: "", properties: [:])
            let settling = MainLoop.start { await client.settle(within: .seconds(60)) }
            await Task.yield()
            broker.session.end()
            await settling.value
            try await eventually { recorder.standings.last == .busEnded }
            #expect(recorder.events == ["will t", "failed t", "ended"])
        }
    }

    @Test("whoever is not the broker is refused, also one who was it before")
    func strangers() async throws {
        try await onLoop {
            let (bus, broker, client, recorder) = try await Self.registered()
            let path = try #require(broker.proxy).object
            let stranger = bus.connect()
            let call = ApplicationProxy(
                RemoteObject(stranger.connection, path.destination, HandoffClient.path))
            let error = try await #require(throws: DBusError.self) {
                _ = try await call.willContinueActivity(activityType: "t", context: Self.context(1))
            }
            #expect(error.name == .accessDenied)
            let next = try await FakeBroker.start(on: bus)
            try await eventually { next.registered.count == 1 }
            await #expect(throws: DBusError.self) {
                _ = try await ApplicationProxy(path)
                    .willContinueActivity(activityType: "t", context: Self.context(1))
            }
            #expect(recorder.events == ["replaced"])
            #expect(client.standing == .registered)
        }
    }

    @Test("a registration that the broker ends is renewed, and what was created with it")
    func renewed() async throws {
        try await onLoop {
            let (_, broker, client, recorder) = try await Self.registered()
            var created = 0
            broker.onCreate = {
                created += 1
                return try ObjectPath("/org/example/Handoff/activities/\(created)")
            }
            client.create(ActivityKey(1), type: "", properties: [:])
            try await eventually { created == 1 }
            try broker.endRegistration("You do not read.")
            try await eventually { created == 2 }
            #expect(broker.registered.count == 2)
            #expect(recorder.events == ["registration ended: You do not read."])
        }
    }

    @Test("somebody else's word that the registration has ended counts for nothing")
    func forged() async throws {
        try await onLoop {
            let (bus, broker, client, recorder) = try await Self.registered()
            let stranger = bus.connect()
            let signal = try ManagerBinding.registrationEnded(
                from: HandoffNames.brokerPath, applicationId: "x", reason: "forged")
            try signal.setDestination(try #require(broker.proxy?.object.destination))
            stranger.connection.post(signal)
            // What follows on the same connection comes after it.
            stranger.flush()
            try broker.endRegistration("true")
            try await eventually { recorder.events.count == 1 }
            #expect(recorder.events == ["registration ended: true"])
            #expect(client.standing == .registered)
        }
    }

    @Test("a refused registration is said, and tried again as something else, or at another broker")
    func refusedRegistration() async throws {
        try await onLoop {
            let (bus, recorder) = (MemoryBus(), Recorder())
            let broker = try await FakeBroker.start(on: bus)
            broker.onRegister = { throw DBusError.invalidArgs("No such id.") }
            let client = HandoffClient(.memory(bus))
            client.delegate = recorder
            client.start(Self.declaration)
            try await eventually { recorder.standings == [.refused(.invalidArgs("No such id."))] }
            broker.onRegister = {}
            client.start(Self.declaration)
            try await eventually { recorder.standings.last == .registered }
        }
    }

    @Test("an application that takes itself back is gone, and can come again")
    func stopping() async throws {
        try await onLoop {
            let (_, broker, client, recorder) = try await Self.registered()
            client.stop()
            try await eventually { broker.proxy == nil }
            client.start(Self.declaration)
            try await eventually { broker.registered.count == 2 }
            try await eventually { recorder.standings == [.registered, .registered] }
        }
    }

    @Test("a broker that says at once that there is no answer is not asked again and again")
    func falseTimeout() async throws {
        try await onLoop {
            let (bus, recorder) = (MemoryBus(), Recorder())
            let broker = try await FakeBroker.start(on: bus)
            var asked = 0
            broker.onRegister = {
                asked += 1
                if !recorder.standings.isEmpty { return }
                throw DBusError(.noReply, "Nobody answers.")
            }
            let client = HandoffClient(.memory(bus))
            client.delegate = recorder
            client.start(Self.declaration)
            try await eventually { !recorder.standings.isEmpty }
            // What the client asks meanwhile comes to the broker before this.
            client.start(ClientDeclaration(applicationID: "com.example.other", activityTypes: ["t"]))
            try await eventually { broker.registered.contains("com.example.other") }
            #expect(asked == 2)
        }
    }
}
