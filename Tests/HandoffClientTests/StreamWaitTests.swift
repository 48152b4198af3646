// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

/// A continuation of a broker that never answers.
@MainLoop
private final class SilentContinuation: ContinuationServer {
    static let path: ObjectPath = "/org/example/Handoff/continuations/1"
    /// How many streams were asked for.
    private(set) var asked = 0

    func openStream(_ call: MethodCall) async throws -> FileDescriptor {
        asked += 1
        try await MainLoop.sleep(for: .seconds(60))
        throw DBusError.limitsExceeded("No more.")
    }
    func release(_ call: MethodCall) throws {}
    var activityType: String { "t" }
    var deviceId: String { "d" }
    var deviceName: String { "Desk" }
    var supportsContinuationStreams: Bool { true }
}

/// Notes what becomes of a wait.
@MainLoop
private final class Wait {
    private(set) var error: (any Error)?
    private var task: Task<Void, Never>?

    init(_ client: HandoffClient, _ key: ContinuationKey) {
        task = MainLoop.start { [weak self] in
            do {
                _ = try await client.openStream(key).number
            } catch {
                self?.error = error
            }
        }
    }

    func cancel() { task?.cancel() }
}

@Suite("A client that waits for a stream", .serialized)
struct StreamWaitTests {
    /// How a wait can end.
    enum End: CaseIterable {
        case brokerLeaves, brokerIsReplaced, busEnds, registrationEnds, applicationStops, cancelled
    }

    /// A client that waits for a stream of this broker.
    @MainLoop
    private static func waiting() async throws -> (MemoryBus, FakeBroker, HandoffClient, Wait) {
        let (bus, recorder) = (MemoryBus(), Recorder())
        let broker = try await FakeBroker.start(on: bus)
        let client = HandoffClient(.memory(bus))
        client.delegate = recorder
        client.start(ClientDeclaration(applicationID: "com.example.notes", activityTypes: ["t"]))
        try await eventually { recorder.standings == [.registered] }
        let continuation = SilentContinuation()
        broker.bus.connection.objects.export(SilentContinuation.path, [ContinuationBinding(continuation)])
        _ = try await #require(broker.proxy).continueActivity(
            activity: ["SupportsContinuationStreams": .boolean(true)],
            context: [
                "Continuation": .objectPath(SilentContinuation.path), "DeviceId": .string("d"),
                "DeviceName": .string("Desk"),
            ])
        let wait = Wait(client, try #require(recorder.continuations.first))
        try await eventually { continuation.asked == 1 }
        return (bus, broker, client, wait)
    }

    @Test("waits no longer than the broker is the broker, however that ends", arguments: End.allCases)
    func ends(_ end: End) async throws {
        try await onLoop {
            let (bus, broker, client, wait) = try await Self.waiting()
            let next: FakeBroker?
            switch end {
            case .brokerLeaves: broker.bus.leave()
            case .busEnds: bus.end()
            case .registrationEnds: try broker.endRegistration("It did not answer.")
            case .applicationStops: client.stop()
            case .cancelled: wait.cancel()
            case .brokerIsReplaced: break
            }
            // The former one stays where it is, and does not answer.
            next = end == .brokerIsReplaced ? try await FakeBroker.start(on: bus) : nil
            try await eventually { wait.error != nil }
            #expect((wait.error is CancellationError) == (end == .cancelled))
            withExtendedLifetime((next, client)) {}
        }
    }
}
