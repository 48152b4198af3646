// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import HandoffClient
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

/// A continuation of a broker that gives whatever it has for a stream.
@MainLoop
private final class OddContinuation: ContinuationServer {
    static let path: ObjectPath = "/org/example/Handoff/continuations/1"
    let kind: OddStream
    private(set) var others: [Int32] = []

    init(_ kind: OddStream) { self.kind = kind }

    isolated deinit { for other in others { close(other) } }

    func openStream(_ call: MethodCall) async throws -> FileDescriptor { try kind.make(keeping: &others) }
    func release(_ call: MethodCall) throws {}
    var activityType: String { "t" }
    var deviceId: String { "d" }
    var deviceName: String { "Desk" }
    var supportsContinuationStreams: Bool { true }
}

/// Takes every stream.
@MainLoop
private final class StreamTaker: HandoffClientDelegate {
    private(set) var standing: ClientStanding?
    private(set) var path: ObjectPath?
    private(set) var continuation: ContinuationKey?
    private(set) var taken = 0

    func standingChanged(_ standing: ClientStanding) { self.standing = standing }
    func created(_ key: ActivityKey, at path: ObjectPath) { self.path = path }
    func didReceiveStream(_ key: ActivityKey, _ stream: consuming FileDescriptor, _ call: MethodCall) {
        taken += 1
    }
    func continueActivity(
        _ key: ContinuationKey, _ activity: [String: Value], _ context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        continuation = key
        return true
    }
}

@Suite("A client that is given as a stream what is none", .serialized)
struct OddStreamTests {
    @MainLoop
    private static func registered() async throws -> (FakeBroker, HandoffClient, StreamTaker) {
        let (bus, taker) = (MemoryBus(), StreamTaker())
        let broker = try await FakeBroker.start(on: bus)
        let client = HandoffClient(.memory(bus))
        client.delegate = taker
        client.start(ClientDeclaration(applicationID: "com.example.notes", activityTypes: ["t"]))
        try await eventually { taker.standing == .registered }
        return (broker, client, taker)
    }

    @Test(
        "what the broker answers with is refused with a reason, and closed",
        arguments: OddStream.allCases)
    func opened(_ kind: OddStream) async throws {
        try await onLoop {
            let (broker, client, taker) = try await Self.registered()
            let continuation = OddContinuation(kind)
            broker.bus.connection.objects.export(OddContinuation.path, [ContinuationBinding(continuation)])
            _ = try await #require(broker.proxy).continueActivity(
                activity: ["SupportsContinuationStreams": .boolean(true)],
                context: [
                    "Continuation": .objectPath(OddContinuation.path), "DeviceId": .string("d"),
                    "DeviceName": .string("Desk"),
                ])
            let key = try #require(taker.continuation)
            for _ in 1...3 {
                let error = try await #require(throws: HandoffFailure.self) {
                    _ = try await client.openStream(key).number
                }
                #expect(error.code == .connectionUnavailable && error.message.contains(kind.description))
                try await eventually { continuation.others.allSatisfy { OddStream.isAlone($0) } }
            }
        }
    }

    /// What is answered to `stream`, which is closed here then.
    @MainLoop
    private static func refusal(
        of stream: consuming FileDescriptor, by delegate: ActivityDelegateProxy, _ activity: ObjectPath
    ) async throws -> DBusError? {
        do {
            try await delegate.didReceiveStream(activity: activity, stream: stream)
            return nil
        } catch {
            return DBusError.converting(error)
        }
    }

    @Test(
        "what comes as a stream that somebody has opened is refused before the application sees it, and closed",
        arguments: OddStream.allCases)
    func received(_ kind: OddStream) async throws {
        try await onLoop {
            let (broker, client, taker) = try await Self.registered()
            broker.onCreate = { "/org/example/Handoff/activities/1" }
            client.create(ActivityKey(1), type: "", properties: [:])
            try await eventually { taker.path != nil }
            let (object, path) = (try #require(broker.proxy).object, try #require(taker.path))
            var others: [Int32] = []
            defer { for other in others { close(other) } }
            let delegate = ActivityDelegateProxy(object)
            let error = try await Self.refusal(of: kind.make(keeping: &others), by: delegate, path)
            #expect(error?.name == .invalidArgs && error?.message.contains(kind.description) == true)
            #expect(taker.taken == 0)
            try await eventually { others.allSatisfy { OddStream.isAlone($0) } }
            let pair = try StreamSocket.makePair()
            try await delegate.didReceiveStream(activity: path, stream: pair.theirs)
            #expect(taker.taken == 1)
        }
    }
}
