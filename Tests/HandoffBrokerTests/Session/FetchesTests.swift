// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("What peers fetch, and what the user sees of it", .timeLimit(.minutes(1)))
struct FetchesTests {
    /// A device with a letter that is offered to a peer, which asks for it by itself.
    @MainLoop
    private final class Session {
        let desk: TestDevice
        let client: SessionClient
        let peer: FakePeer
        let activity: ActivityProxy
        let saved = Promise<Bool>()

        init(title: String = "A letter", savesLater: Bool = false) async throws {
            desk = try await oneDevice(hasBridge: false)
            peer = try await FakePeer.start(
                on: desk.bus.connect(), try Sample.device(), offering: try Sample.offer())
            client = try await SessionClient(desk)
            let saved = saved
            if savesLater {
                client.onWillSave = { _ in
                    _ = try await saved.get()
                    return [:]
                }
            }
            activity = try await client.offer(
                title,
                [
                    "UserInfo": .properties(["secret": .string("x")]),
                    "SupportsContinuationStreams": .boolean(true),
                ])
            try await eventually { [peer] in peer.count("offer") == 1 }
            if savesLater { desk.clock.stop() }
        }

        /// Begins to fetch it, and waits until it is being saved for that.
        func beginToFetch() async throws -> Task<[String: Value], any Error> {
            let fetch = MainLoop.start { [self] in try await peer.fetch(activity) }
            try await eventually { client.count("WillSave") == 1 }
            return fetch
        }

        func expectNoFetches() async throws {
            await desk.pass(.zero)
            #expect(try await client.manager.recentFetches().isEmpty)
            #expect(try await client.manager.fetchesByDevice().isEmpty)
            #expect(client.continued.isEmpty && client.streams.isEmpty)
        }
    }

    // MARK: What is not offered any more

    @Test(
        "what ceases to be offered while it is being saved for a peer is not sent to it",
        arguments: [
            "it resigned", "it is not eligible", "it has expired", "another is current", "it is invalid",
            "switched off",
        ])
    func withdrawn(what: String) async throws {
        try await onLoop {
            let session = try await Session(savesLater: true)
            let (client, activity) = (session.client, session.activity)
            let fetch = try await session.beginToFetch()
            switch what {
            case "it resigned": try await activity.resignCurrent()
            case "it is not eligible": try await activity.setEligibleForHandoff(false)
            case "it has expired": try await activity.setExpirationDate(session.desk.clock.wall - 1)
            case "another is current": _ = try await client.offer("Another")
            case "it is invalid": try await activity.invalidate()
            default: await session.desk.setEnabled(false)
            }
            session.saved.keep(true)
            let withdrawn = [HandoffFailure.Code.offerWithdrawn, .disabled].map(\.errorName)
            #expect(await isRefused(Set(withdrawn)) { _ = try await fetch.value })
            // Nor has the peer a continuation now, with which it could do more.
            let refusals = Set([HandoffFailure.Code.unknownObject, .disabled].map(\.errorName))
            let broker = try session.peer.atBroker()
            let number = FakePeer.continuation(1)
            #expect(await isRefused(refusals) { try await broker.continued(continuation: number) })
            #expect(await isRefused(refusals) { _ = try await broker.openStream(continuation: number) })
            try await session.expectNoFetches()
        }
    }

    @Test("nor is it sent to a device that is no peer any more by then")
    func unpaired() async throws {
        try await onLoop {
            let session = try await Session(savesLater: true)
            let fetch = try await session.beginToFetch()
            try await session.peer.leave()
            session.saved.keep(true)
            await #expect(throws: (any Error).self) { try await fetch.value }
            try await session.expectNoFetches()
        }
    }

    @Test("what is offered when it has been saved is sent, whatever there was in between")
    func offeredAgain() async throws {
        try await onLoop {
            let session = try await Session(savesLater: true)
            let fetch = try await session.beginToFetch()
            try await session.activity.resignCurrent()
            try await session.activity.becomeCurrent()
            session.saved.keep(true)
            #expect(try await fetch.value["Title"] == .string("A letter"))
        }
    }

    @Test("only the activity that is offered now can be fetched, not another of the same client")
    func notOffered() async throws {
        try await onLoop {
            let session = try await Session()
            let hidden = try await session.client.create("", ["UserInfo": .properties(["x": .byte(1)])])
            #expect(await isRefused(.offerWithdrawn) { _ = try await session.peer.fetch(hidden) })
            try await session.expectNoFetches()
        }
    }

    // MARK: What a peer may ask

    @Test("Fetch, Continued and Release may come again: the application is told once")
    func repeats() async throws {
        try await onLoop {
            let session = try await Session()
            let (peer, number) = (try session.peer.atBroker(), FakePeer.continuation(1))
            for _ in 1...2 {
                #expect(
                    try await session.peer.fetch(session.activity)["UserInfo"]
                        == .properties(["secret": .string("x")]))
            }
            for _ in 1...3 { try await peer.continued(continuation: number) }
            try await eventually { session.client.continued.count == 1 }
            for _ in 1...2 { try await peer.release(continuation: number) }
            await session.desk.pass(.seconds(5))
            #expect(session.client.continued.count == 1)
        }
    }

    @Test(
        "a peer has eight continuations at most; the oldest makes room for a ninth, unless one was released")
    func limited() async throws {
        try await onLoop {
            let session = try await Session()
            let peer = try session.peer.atBroker()
            let id = FakePeer.continuation
            for number in 0..<8 { _ = try await session.peer.fetch(session.activity, number) }
            try await peer.release(continuation: id(3))
            _ = try await session.peer.fetch(session.activity, 8)
            try await peer.continued(continuation: id(0))
            _ = try await session.peer.fetch(session.activity, 9)
            #expect(await isRefused(.unknownObject) { try await peer.continued(continuation: id(0)) })
            for number in [1, 2, 4, 5, 6, 7, 8, 9] { try await peer.continued(continuation: id(number)) }
            try await peer.release(continuation: id(3))
        }
    }

    // MARK: What there is of it for the user

    @Test(
        "who follows the broker is told at once of what a peer fetches, and of the title of what is current; a stream that it opens is logged with its name, listed like a fetch, and counted for its device"
    )
    func told() async throws {
        try await onLoop {
            LoggedLines.begin()
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let (dock, follower) = (try await SessionDock(lap), SessionClient(unregisteredOn: desk))
            _ = try await follower.object(HandoffNames.brokerPath).managedObjects()
            let title = "Contacts \(desk.device.id)"
            let activity = try await origin.offer(title, ["SupportsContinuationStreams": .boolean(true)])
            try await dock.continue(title)
            try await eventually {
                ["RecentFetches", "FetchesByDevice"].allSatisfy { name in
                    follower.changes.contains { "\($0[name] ?? .byte(0))".contains(title) }
                }
            }
            for _ in 1...3 { _ = try await target.openStream() }
            let recent = try await origin.manager.recentFetches()
            #expect(recent.map { $0["Kind"]?.string } == ["stream", "stream", "stream", "activity"])
            #expect(recent.allSatisfy { $0["DeviceName"] == .string("lap") })
            #expect(
                try await origin.manager.fetchesByDevice() == [
                    [
                        "DeviceId": .string("\(lap.device.id)"), "DeviceName": .string("lap"),
                        "ActivityType": .string(editing), "ApplicationId": .string(editor),
                        "Title": .string(title), "Fetches": .uint64(1), "Streams": .uint64(3),
                        "Documents": .uint64(0), "Clipboards": .uint64(0),
                        "Time": try #require(recent[0]["Time"]),
                    ]
                ])
            #expect(!LoggedLines.with("lap has opened a stream to \(editor) for “\(title)”").isEmpty)
            try await activity.setTitle("Another")
            try await eventually { follower.changes.contains { $0["Title"] == .string("Another") } }
        }
    }

    @Test("however often one peer fetches, the last fetch of another one stays to be seen")
    func pushedOut() async throws {
        try await onLoop {
            let session = try await Session(title: "From the first")
            let other = try await session.peer.another(
                try Sample.device(2), "other", offering: try Sample.offer(2))
            _ = try await session.peer.fetch(session.activity)
            for number in 1...12 {
                _ = try await other.fetch(try await session.client.offer("Letter \(number)"), number)
            }
            let recent = try await session.client.manager.recentFetches()
            #expect(recent.map { $0["DeviceName"] } == [Value?](repeating: .string("other"), count: 10))
            let tallies = try await session.client.manager.fetchesByDevice()
            #expect(tallies.map { $0["DeviceName"] } == [.string("other"), .string("Desk")])
            #expect(tallies.map { $0["Fetches"] } == [.uint64(12), .uint64(1)])
            #expect(tallies.last?["Title"] == .string("From the first"))
        }
    }

    @Test(
        "who follows the objects is told when a peer has continued something, once a continuation, with what and where; nobody else is, in a sandbox or not"
    )
    func continued() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let (watcher, bystander) = (
                SessionClient(unregisteredOn: desk), SessionClient(unregisteredOn: desk)
            )
            let boxed = SessionClient(unregisteredOn: desk, in: .flatpak(application: editor))
            var heard: [[[String: Value]]] = [[], [], []]
            let tokens = [watcher, bystander, boxed].enumerated().map { index, one in
                one.bus.connection.onSignal(ManagerProxy.interface, ManagerActivityContinued.member) {
                    if let signal = try? ManagerActivityContinued($0) {
                        heard[index].append(signal.continued)
                    }
                }
            }
            for one in [watcher, boxed] { _ = try await one.object(HandoffNames.brokerPath).managedObjects() }
            desk.clock.stop()
            _ = try await origin.offer("A letter")
            for times in 1...2 {
                try await dock.continue("A letter")
                try await eventually { heard[0].count == times }
            }
            #expect(
                heard[0][0] == [
                    "DeviceId": .string("\(lap.device.id)"), "DeviceName": .string("lap"),
                    "ActivityType": .string(editing), "ApplicationId": .string(editor),
                    "Title": .string("A letter"), "Time": .int64(desk.clock.wall),
                ])
            // A continuation that fails has not continued anything.
            target.onContinue = { false }
            try await dock.continue("A letter")
            for device in [desk, lap] { await device.pass(.zero) }
            #expect(heard.map(\.count) == [2, 0, 0])
            withExtendedLifetime(tokens) {}
        }
    }
}
