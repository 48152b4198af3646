// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@Suite("A client that is an adapter", .serialized)
struct AdapterTests {
    private static let declaration = ClientDeclaration(
        applicationID: "com.example.notes", activityTypes: ["t"], isAdapter: true)
    private static let refusal = DBusError.notSupported("The application has registered itself.")

    @MainLoop
    private static func registered() async throws -> (MemoryBus, FakeBroker, HandoffClient, Recorder) {
        let bus = MemoryBus()
        let broker = try await FakeBroker.start(on: bus)
        let (client, recorder) = (HandoffClient(.memory(bus)), Recorder())
        client.delegate = recorder
        client.start(declaration)
        try await eventually { client.standing == .registered }
        return (bus, broker, client, recorder)
    }

    @Test("registers as one, and others do not")
    func option() async throws {
        try await onLoop {
            let (_, broker, client, _) = try await Self.registered()
            #expect(broker.options["Adapter"] == .boolean(true))
            client.start(ClientDeclaration(applicationID: "com.example.notes", activityTypes: ["t"]))
            try await eventually { broker.registered.count == 2 }
            #expect(broker.options["Adapter"] == nil)
        }
    }

    @Test("is told that it is replaced, leaves the bus, and sends nothing until it is started again")
    func replaced() async throws {
        try await onLoop {
            let (bus, broker, client, recorder) = try await Self.registered()
            var created = 0
            broker.onCreate = {
                created += 1
                return try ObjectPath("/org/example/Handoff/activities/\(created)")
            }
            client.create(ActivityKey(1), type: "", properties: [:])
            try await eventually { recorder.paths[ActivityKey(1)] != nil }
            let name = try #require(broker.proxy?.object.destination)
            broker.onRegister = { throw Self.refusal }
            try broker.endRegistration("It has registered itself.")
            try await eventually { client.standing == .replaced(Self.refusal) }
            #expect(recorder.standings == [.registered, .replaced(Self.refusal)])
            #expect(recorder.events == ["registration ended: It has registered itself."])
            var isGone = false
            let other = bus.connect()
            let watch = other.watch(name) { isGone = $0 == nil }
            try await eventually { isGone }
            withExtendedLifetime((other, watch)) {}
            // Nothing of this goes anywhere, and a new broker is none of its business.
            broker.onRegister = {}
            client.becomeCurrent(ActivityKey(1))
            client.create(ActivityKey(2), type: "", properties: [:])
            let second = try await FakeBroker.start(on: bus)
            client.update(ActivityKey(1), ["Title": .string("later")])
            await client.settle(within: .milliseconds(100))
            #expect(second.registered.isEmpty && broker.registered.count == 1 && created == 1)
            // Both activities are still known, and come with the next start.
            second.onCreate = broker.onCreate
            client.start(Self.declaration)
            try await eventually { created == 3 }
            #expect(client.standing == .registered && second.registered == ["com.example.notes"])
        }
    }

    @Test("that is refused from the start because it is not needed stands as one that was replaced")
    func refusedAtOnce() async throws {
        try await onLoop {
            let (bus, recorder) = (MemoryBus(), Recorder())
            let broker = try await FakeBroker.start(on: bus)
            broker.onRegister = { throw Self.refusal }
            let client = HandoffClient(.memory(bus))
            client.delegate = recorder
            client.start(Self.declaration)
            try await eventually { recorder.standings == [.replaced(Self.refusal)] }
            client.stop()
            #expect(client.standing == nil)
            broker.onRegister = {}
            client.start(Self.declaration)
            try await eventually { recorder.standings.last == .registered }
        }
    }

    @Test("that is forgotten because it did not read is registered again at once, like any client")
    func forgotten() async throws {
        try await onLoop {
            let (_, broker, client, recorder) = try await Self.registered()
            try broker.endRegistration("You do not read.")
            try await eventually { broker.registered.count == 2 }
            try await eventually { recorder.standings == [.registered, .registered] }
            #expect(client.standing == .registered)
        }
    }

    @Test("that is no adapter any more by the time that it is refused as one stays where it is")
    func changedMeanwhile() async throws {
        try await onLoop {
            let (bus, recorder) = (MemoryBus(), Recorder())
            let broker = try await FakeBroker.start(on: bus)
            let client = HandoffClient(.memory(bus))
            var asked = 0
            broker.onRegister = {
                asked += 1
                guard asked == 1 else { return }
                client.start(ClientDeclaration(applicationID: "com.example.notes", activityTypes: ["t"]))
                throw Self.refusal
            }
            client.delegate = recorder
            client.start(Self.declaration)
            try await eventually { client.standing == .registered }
            #expect(!recorder.standings.contains(.replaced(Self.refusal)) && asked == 2)
        }
    }

    @Test("another refusal leaves it waiting for the next broker, like any client")
    func otherRefusal() async throws {
        try await onLoop {
            let (bus, recorder) = (MemoryBus(), Recorder())
            let broker = try await FakeBroker.start(on: bus)
            broker.onRegister = { throw DBusError.limitsExceeded("Too many.") }
            let client = HandoffClient(.memory(bus))
            client.delegate = recorder
            client.start(Self.declaration)
            try await eventually { recorder.standings == [.refused(.limitsExceeded("Too many."))] }
            let second = try await FakeBroker.start(on: bus)
            try await eventually { second.registered.count == 1 && client.standing == .registered }
        }
    }
}
