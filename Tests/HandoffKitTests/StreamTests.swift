// SPDX-License-Identifier: LGPL-2.1-or-later
import FoundationEssentials
import Glibc
import HandoffKit
import HandoffTesting
import Testing

/// Continuation streams of rule R1, and rule S as the library keeps it.
@MainActor @Suite("Streams")
struct StreamTests {
    let laptop: TestBroker
    let desktop: TestBroker
    let here: HandoffApplication
    let there: HandoffApplication
    let activity: UserActivity

    init() async {
        (laptop, desktop) = TestBroker.pair("Laptop", "Desktop")
        here = laptop.application(id: "org.example.Notes", activityTypes: [edit])
        there = desktop.application(id: "org.example.Notes", activityTypes: [edit])
        activity = UserActivity(activityType: edit, title: "Note", application: here)
        activity.supportsContinuationStreams = true
        activity.becomeCurrent()
        await laptop.settle()
    }

    /// The two ends of a stream: of the origin, and of who continues.
    func open() async throws -> (origin: ContinuationStream, continuing: ContinuationStream) {
        let arrivals = Arrivals()
        activity.onStream { arrivals.add($1) }
        var continued: UserActivity?
        there.onContinue { activity, _ in
            continued = activity
            return true
        }
        try await desktop.continueActivity()
        let stream = try await #require(continued).continuationStream()
        return (await arrivals.next(), stream)
    }

    @MainActor final class Arrivals {
        private var streams: [ContinuationStream] = []
        private var waiter: CheckedContinuation<Void, Never>?

        func add(_ stream: ContinuationStream) {
            streams.append(stream)
            waiter?.resume()
            waiter = nil
        }
        func next() async -> ContinuationStream {
            if streams.isEmpty { await withCheckedContinuation { waiter = $0 } }
            return streams.removeFirst()
        }
    }

    /// Everything that comes until the end.
    nonisolated static func all(_ stream: ContinuationStream) async throws -> Data {
        var data = Data()
        for try await chunk in stream.bytes { data.append(chunk) }
        return data
    }

    static func pattern(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
    }

    @Test("what one side writes the other reads, both ways, and each direction ends on its own")
    func bothWays() async throws {
        let (origin, continuing) = try await open()
        let (question, answer) = (Self.pattern(3_000_000), Self.pattern(1_000_001))
        async let heard = Self.all(origin)
        try await continuing.write(question)
        try await continuing.finishWriting()
        #expect(try await heard == question)
        async let reply = Self.all(continuing)
        try await origin.write(answer)
        try await origin.finish()
        #expect(try await reply == answer)
        try await continuing.finish()
    }

    @Test("finish half-closes, and waits for the other side's end")
    func finishing() async throws {
        let (origin, continuing) = try await open()
        let order = Order()
        let sender = Task {
            try await continuing.write(Data("done".utf8))
            try await continuing.finish()
            order.note("finished")
        }
        #expect(try await Self.all(origin) == Data("done".utf8))
        order.note("read")
        try await origin.finish()
        try await sender.value
        #expect(order.events == ["read", "finished"])
    }

    @MainActor final class Order {
        private(set) var events: [String] = []
        func note(_ event: String) { events.append(event) }
    }

    @Test("finish throws away what nobody reads, however much it is")
    func finishingUnread() async throws {
        let (origin, continuing) = try await open()
        let sender = Task {
            try await origin.write(Data(count: 5_000_000))
            try await origin.finish()
        }
        try await continuing.finish()
        try await sender.value
    }

    @Test("a stream that breaks is an error for who reads and for who writes, never an end")
    func breaking() async throws {
        let (origin, continuing) = try await open()
        try await continuing.write(Data("half".utf8))
        var iterator = origin.bytes.makeAsyncIterator()
        #expect(try await iterator.next() == Data("half".utf8))
        let reader = Task { try await Self.all(continuing) }
        let writer = Task {
            while true { try await origin.write(Data(count: 1 << 20)) }
        }
        await laptop.settle()
        laptop.breakStreams()
        await #expect(throws: HandoffError.self) { try await reader.value }
        await #expect(throws: HandoffError.self) { try await writer.value }
        await #expect(throws: HandoffError.self) { try await iterator.next() }
        await #expect(throws: HandoffError.self) { try await continuing.finish() }
    }

    @Test("a stream that nobody holds any more ends for the other side")
    func freed() async throws {
        var (origin, continuing): (ContinuationStream, ContinuationStream?) = try await open()
        try await continuing?.write(Data("last".utf8))
        continuing = nil
        #expect(try await Self.all(origin) == Data("last".utf8))
        try await origin.finish()
    }

    @Test("a task that is cancelled waits no more, and what comes then is not lost")
    func cancelling() async throws {
        let (origin, continuing) = try await open()
        let reader = Task { try await Self.all(origin) }
        await laptop.settle()
        reader.cancel()
        let error = await #expect(throws: HandoffError.self) { try await reader.value }
        #expect(error?.code == .cancelled)
        try await continuing.write(Data("still here".utf8))
        try await continuing.finishWriting()
        #expect(try await Self.all(origin) == Data("still here".utf8))
    }

    @Test("a write that is cancelled still arrives as a whole")
    func cancelledWrite() async throws {
        let (origin, continuing) = try await open()
        let data = Self.pattern(4_000_000)
        let writer = Task { try await continuing.write(data) }
        await laptop.settle()
        writer.cancel()
        _ = await writer.result
        async let heard = Self.all(origin)
        try await continuing.finishWriting()
        #expect(try await heard == data)
    }

    @Test("several writes at a time come one after the other")
    func manyWriters() async throws {
        let (origin, continuing) = try await open()
        async let heard = Self.all(origin)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await continuing.write(Data(repeating: UInt8(number), count: 100_000)) }
            }
            try await group.waitForAll()
        }
        try await continuing.finishWriting()
        let data = try await heard
        #expect(data.count == 2_000_000)
        let runs = stride(from: 0, to: data.count, by: 100_000).map { Set(data[$0..<$0 + 100_000]) }
        #expect(runs.allSatisfy { $0.count == 1 } && Set(runs).count == 20)
    }

    @Test("what is too large to go at once is not mixed with what others write at the same time")
    func largeWrites() async throws {
        let (origin, continuing) = try await open()
        async let heard = Self.all(origin)
        let size = 300_000
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 as Range<UInt8> {
                group.addTask { @concurrent in
                    for _ in 0..<20 {
                        try await continuing.write(Data(repeating: writer, count: size))
                    }
                }
            }
            try await group.waitForAll()
        }
        try await continuing.finishWriting()
        let data = try await heard
        #expect(data.count == 8 * 20 * size)
        let isWhole = stride(from: 0, to: data.count, by: size).allSatisfy { start in
            data[start..<start + size] == Data(repeating: data[start], count: size)
        }
        #expect(isWhole)
    }

    @Test("a stream that is ended while others write keeps none of them waiting")
    func endedWhileWriting() async throws {
        for _ in 0..<10 {
            let (origin, continuing) = try await open()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask { @concurrent in
                        while (try? await continuing.write(Data(count: 300_000))) != nil {}
                    }
                }
                group.addTask { @concurrent in continuing.cancel() }
                await group.waitForAll()
            }
            withExtendedLifetime(origin) {}
        }
    }

    @Test("nothing can be written after the end")
    func afterTheEnd() async throws {
        let (origin, continuing) = try await open()
        try await continuing.finishWriting()
        let error = await #expect(throws: HandoffError.self) { try await continuing.write(Data([1])) }
        #expect(error?.code == .notSupported)
        _ = origin
    }

    @Test("the socket can be taken, and then nothing else works")
    func taking() async throws {
        let (origin, continuing) = try await open()
        let descriptor = try continuing.takeDescriptor()
        #expect(send(descriptor, "raw", 3, Int32(MSG_NOSIGNAL)) == 3)
        #expect(throws: HandoffError.self) { try continuing.takeDescriptor() }
        await #expect(throws: HandoffError.self) { try await continuing.write(Data([1])) }
        close(descriptor)
        #expect(try await Self.all(origin) == Data("raw".utf8))
        #expect(throws: HandoffError.self) { try origin.takeDescriptor() }
    }

    @Test("an activity without streams, and one of this device, open none")
    func unsupported() async throws {
        activity.supportsContinuationStreams = false
        await laptop.settle()
        var continued: UserActivity?
        there.onContinue { activity, _ in
            continued = activity
            return true
        }
        try await desktop.continueActivity()
        for activity in [try #require(continued), activity] {
            let error = await #expect(throws: HandoffError.self) { try await activity.continuationStream() }
            #expect(error?.code == .streamsNotSupported || error?.code == .unknownObject)
        }
    }

    @Test("as many streams are open at a time as the broker allows")
    func quota() async throws {
        let (_, first) = try await open()
        _ = first
        var continued: UserActivity?
        there.onContinue { activity, _ in
            continued = activity
            return true
        }
        var kept: [ContinuationStream] = []
        activity.onStream { kept.append($1) }
        try await desktop.continueActivity()
        let activity = try #require(continued)
        let error = await #expect(throws: HandoffError.self) {
            for _ in 0..<20 { kept.append(try await activity.continuationStream()) }
        }
        #expect(error?.code == .limitsExceeded)
    }
}
