// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

private let activity = "0123456789abcdef0123456789abcdef"
private let continuation = "fedcba9876543210fedcba9876543210"
private let summary: [String: Value] = [
    "ActivityType": .string("com.example.edit"), "ApplicationId": .string("com.example.Notes"),
    "Title": .string("Minutes"), "Revision": .uint64(7),
]

@Suite("Sending to a device that is away", .serialized)
struct OutboxTests {
    /// Two devices that are paired, the second of which is away.
    @MainLoop
    private func pair() async throws -> (TestDevice, TestDevice) {
        let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
        try await a.pair(with: b)
        a.broker?.parked = PeerManagerParkReply(
            activity: activity, summary: summary, payload: try PackedProperties(["Title": .string("Minutes")])
        )
        try await setAway(true, b, from: a)
        return (a, b)
    }

    /// What is offered now.
    @MainLoop
    private func offer(_ activity: String, _ a: TestDevice) {
        guard let former = a.broker?.parked else { return }
        a.broker?.parked = PeerManagerParkReply(
            activity: activity, summary: former.summary, payload: former.payload)
    }

    @MainLoop
    private func setAway(_ isAway: Bool, _ b: TestDevice, from a: TestDevice) async throws {
        b.broker?.setEnabled(!isAway)
        try await eventually { (a.link(with: b) == nil) == isAway }
    }

    @MainLoop
    private func waiting(_ a: TestDevice, for b: TestDevice) -> [[String: Value]] {
        a.bridge.outbox.waiting(for: b.id)
    }

    /// Sends, and returns what that is called.
    @MainLoop
    private func send(_ a: TestDevice, to b: TestDevice) async throws -> String {
        try await a.device(b).send()
        return try #require(try await a.device(b).waiting().last?["Id"]?.string)
    }

    @Test(
        "what was sent waits, is offered as kept and as sent once the device comes, and goes once it was continued"
    )
    func continued() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            let id = try await send(a, to: b)
            #expect(id != activity)
            let one = try #require(try await a.device(b).waiting().first)
            #expect(waiting(a, for: b) == [one])
            #expect(one["Title"] == .string("Minutes") && one["Arrived"] == .int64(0))
            let c = try await TestDevice.start()
            try await a.pair(with: c)
            try await setAway(false, b, from: a)
            try await eventually { b.broker?.saw("invite \(id)") == true }
            #expect(b.broker?.summaries[id]?["Kept"] == .string(activity))
            try await eventually { waiting(a, for: b).first?["Arrived"] != .int64(0) }
            // Nobody else gets it.
            a.broker?.onFetch = { _, _ in throw HandoffFailure(.offerWithdrawn, "There is nothing.") }
            await expectError("org.example.Handoff.Error.OfferWithdrawn") {
                _ = try await c.peer(a).fetch(activity: id, continuation: continuation)
            }
            let fetched = try await b.peer(a).fetch(activity: id, continuation: continuation)
            #expect(try fetched.unpacked() == ["Title": .string("Minutes")])
            try await b.peer(a).release(continuation: continuation)
            #expect(waiting(a, for: b).count == 1)
            await expectError("org.freedesktop.DBus.Error.UnknownObject") {
                a.broker?.refusesContinued = true
                try await c.peer(a).continued(continuation: continuation)
            }
            _ = try await b.peer(a).fetch(activity: id, continuation: continuation)
            try await b.peer(a).continued(continuation: continuation)
            #expect(waiting(a, for: b).isEmpty)
            try await eventually { a.broker?.saw("continuedParked \(activity) 7") == true }
            try await eventually { b.broker?.saw("withdraw \(id)") == true }
        }
    }

    @Test("what was put aside there goes, and what was taken back here is withdrawn")
    func endings() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            let first = try await send(a, to: b)
            offer(continuation, a)
            let second = try await send(a, to: b)
            try await setAway(false, b, from: a)
            try await eventually { b.broker?.saw("invite \(first)") == true }
            try await eventually { b.broker?.saw("invite \(second)") == true }
            try await b.peer(a).dismissed(activity: first)
            try await b.peer(a).dismissed(activity: first)
            #expect(waiting(a, for: b).map { $0["Id"] } == [.string(second)])
            await expectError("org.freedesktop.DBus.Error.UnknownObject") {
                try await a.device(b).cancelWaiting(id: first)
            }
            await expectError("org.freedesktop.DBus.Error.InvalidArgs") {
                try await a.device(b).cancelWaiting(id: "x")
            }
            try await a.device(b).cancelWaiting(id: second)
            #expect(waiting(a, for: b).isEmpty)
            try await eventually { b.broker?.saw("withdraw \(second)") == true }
        }
    }

    @Test("a receiver that has dealt with it already says so, and it goes")
    func settled() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            b.broker?.refusesOffers = HandoffFailure(.cancelled, "It was continued.")
            _ = try await send(a, to: b)
            try await setAway(false, b, from: a)
            try await eventually { waiting(a, for: b).isEmpty }
            b.broker?.refusesOffers = HandoffFailure(.invalidArguments, "No.")
            try await setAway(true, b, from: a)
            _ = try await send(a, to: b)
            try await setAway(false, b, from: a)
            try await eventually {
                waiting(a, for: b).first?["ErrorName"]
                    == .string("org.freedesktop.DBus.Error.InvalidArgs")
            }
            #expect(waiting(a, for: b).count == 1)
        }
    }

    @Test("what was continued is told here, also when the word of that is lost and it is offered once more")
    func unheard() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            let id = try await send(a, to: b)
            try await setAway(false, b, from: a)
            try await eventually { b.broker?.saw("invite \(id)") == true }
            _ = try await b.peer(a).fetch(activity: id, continuation: continuation)
            try await setAway(true, b, from: a)
            b.broker?.refusesOffers = HandoffFailure(.cancelled, "It was continued.")
            try await setAway(false, b, from: a)
            try await eventually { a.broker?.saw("continuedParked \(activity) 7") == true }
            #expect(waiting(a, for: b).isEmpty)
            // The word comes late.
            try await b.peer(a).dismissed(activity: id)
            #expect(a.broker?.events.filter { $0.hasPrefix("continuedParked") }.count == 1)
        }
    }

    @Test("what is sent over a link does not wait besides")
    func overLink() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            try await a.allPeers().offer(activity: activity, summary: summary)
            let id = try await send(a, to: b)
            try await setAway(false, b, from: a)
            try await eventually { b.broker?.saw("invite \(id)") == true }
            try await a.device(b).send()
            try await eventually { b.broker?.saw("invite \(activity)") == true }
            try await eventually { waiting(a, for: b).isEmpty && b.broker?.saw("withdraw \(id)") == true }
        }
    }

    @Test("nothing of an excluded application is offered, or fetched")
    func excluded() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            let id = try await send(a, to: b)
            try await setAway(false, b, from: a)
            try await eventually { b.broker?.saw("invite \(id)") == true }
            a.bridge.outbox.excluded = ["com.example.Notes"]
            try await eventually { b.broker?.saw("withdraw \(id)") == true }
            a.broker?.onFetch = { _, _ in throw HandoffFailure(.offerWithdrawn, "There is nothing.") }
            await expectError("org.example.Handoff.Error.OfferWithdrawn") {
                _ = try await b.peer(a).fetch(activity: id, continuation: continuation)
            }
            try await setAway(true, b, from: a)
            b.broker?.events = []
            try await setAway(false, b, from: a)
            a.bridge.outbox.excluded = []
            try await setAway(true, b, from: a)
            try await setAway(false, b, from: a)
            try await eventually { b.broker?.saw("invite \(id)") == true }
            #expect(b.broker?.events.filter { $0 == "offer \(id)" }.count == 1)
        }
    }

    @Test("it outlives the bridge, goes with the trust, and a damaged file is set aside")
    func stored() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            let id = try await send(a, to: b)
            let file = a.folder.path("state/\(Outbox.fileName)")
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
            a.bridge.end()
            let next = try await TestDevice.start(MemoryBus(), a.folder)
            #expect(waiting(next, for: b).map { $0["Id"] } == [.string(id)])
            try next.bridge.unpair(b.id)
            #expect(stat(file, &status) == 0 && status.st_size == 0)
            next.bridge.end()
            try a.folder.write("nonsense", to: "state/\(Outbox.fileName)")
            let last = try await TestDevice.start(MemoryBus(), a.folder)
            #expect(stat(file, &status) != 0)
            last.bridge.end()
        }
    }

    @Test("nothing that waits makes room, and what cannot be stored is refused")
    func limits() async throws {
        try await onLoop {
            let (a, b) = try await pair()
            for number in 1...17 {
                offer(activity.dropLast(2) + "\(number + 10)", a)
                if number < 17 { _ = try await send(a, to: b) }
            }
            await expectError("org.freedesktop.DBus.Error.LimitsExceeded") { try await a.device(b).send() }
            let ids = waiting(a, for: b).compactMap { $0["Id"]?.string }
            #expect(Set(ids).count == 16)
            try await a.device(b).cancelWaiting(id: ids[3])
            // There is no folder to write to.
            #expect(rename(a.folder.path("state"), a.folder.path("gone")) == 0)
            try a.folder.write("", to: "state")
            await expectError("org.freedesktop.DBus.Error.Failed") { try await a.device(b).send() }
            await expectError("org.freedesktop.DBus.Error.Failed") {
                try await a.device(b).cancelWaiting(id: ids[0])
            }
            #expect(unlink(a.folder.path("state")) == 0)
            #expect(rename(a.folder.path("gone"), a.folder.path("state")) == 0)
            #expect(waiting(a, for: b).count == 15)
            a.broker?.parked = nil
            await expectError("org.example.Handoff.Error.OfferWithdrawn") { try await a.device(b).send() }
        }
    }
}
