// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffCore
import HandoffInterfaces
import HandoffStatus
import MainLoop
import TestSupport
import Testing

@testable import AdapterSupport

/// A session with a broker, an adapted application, and somebody who sees what the broker shows.
@MainLoop
private final class AdapterSession {
    let bus: TestBus
    let feed: StatusFeed
    let application: AdaptedApplication
    private let folder: TemporaryDirectory
    private var broker: ChildProcess
    private let environment: [String: String?]
    private let watcher: Bus

    static let id = "com.example.film"
    static let type = "com.example.playing"

    init() async throws {
        bus = try await TestBus.start()
        folder = try TemporaryDirectory()
        var environment = bus.environment
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "HOME"] {
            environment[name] = folder.path("home")
        }
        self.environment = environment
        broker = try ChildProcess([program("handoffd")], environment: environment)
        watcher = try bus.connect()
        watcher.connection.policy = BusAccessPolicy()
        let feed = StatusFeed(on: watcher)
        self.feed = feed
        feed.begin()
        application = AdaptedApplication(
            try ApplicationID(Self.id), types: [try ActivityType(Self.type)],
            team: try Team("com.example.media"),
            receives: false, on: .address(bus.address))
        try await eventually { feed.report.broker.content != nil }
    }

    func shows(_ identity: String, _ title: String, in window: String = "") throws -> ShownActivity {
        ShownActivity(
            identity, in: window, type: try ActivityType(Self.type), properties: ["Title": .string(title)])
    }

    /// The titles of the activities that there are.
    func titles() async throws -> Set<String> {
        let objects = try await RemoteObject(
            watcher.connection, HandoffNames.broker, HandoffNames.brokerPath
        ).managedObjects()
        return Set(objects.values.compactMap { $0[ActivityProxy.interface.text]?["Title"]?.string })
    }

    /// Waits until there are activities of these titles, and no others.
    func have(_ titles: Set<String>) async throws {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(20)
        while try await self.titles() != titles {
            try #require(clock.now < deadline, "there are other activities than \(titles)")
            try await MainLoop.sleep(for: .milliseconds(10))
        }
    }

    /// Kills the broker, as a crash would.
    func killBroker() async throws {
        broker.send(signal: 9)
        let (broker, feed) = (broker, feed)
        try await eventually { broker.end != nil && feed.report.broker.content == nil }
    }

    /// Starts another one, and waits until it has answered.
    func startBroker() async throws {
        broker = try ChildProcess([program("handoffd")], environment: environment)
        let feed = feed
        try await eventually { feed.report.broker.content != nil }
    }

    var title: String? { feed.report.broker.content?.current?.title }

    /// Another connection that registers as the application, as if it had learnt Handoff.
    func learn() -> HandoffClient {
        let client = HandoffClient(.address(bus.address))
        client.start(ClientDeclaration(applicationID: Self.id, activityTypes: ["t"]))
        return client
    }
}

@Suite("An application that an adapter stands for", .serialized, .timeLimit(.minutes(2)))
struct AdaptedApplicationTests {
    @Test("what it shows is current, with its latest properties, until it shows nothing")
    func showing() async throws {
        try await onLoop {
            let session = try await AdapterSession()
            session.application.show(try session.shows("a", "One"))
            try await eventually { session.title == "One" }
            session.application.show(try session.shows("a", "One more"))
            try await eventually { session.title == "One more" }
            session.application.show(try session.shows("b", "Two"))
            try await eventually { session.title == "Two" }
            session.application.leave()
            try await eventually { session.feed.report.broker.content?.current == nil }
            session.application.show(try session.shows("b", "Two"))
            try await eventually { session.title == "Two" }
            session.application.resign()
            try await eventually { session.feed.report.broker.content?.current == nil }
            session.application.show(try session.shows("b", "Two"))
            try await eventually { session.title == "Two" }
            session.application.showNothing()
            try await eventually { session.feed.report.broker.content?.current == nil }
        }
    }

    @Test("what two other windows of it have shown stays, until they show something else or are gone")
    func windows() async throws {
        try await onLoop {
            let session = try await AdapterSession()
            @MainLoop
            func show(_ identity: String, in window: String) async throws {
                session.application.show(try session.shows(identity, identity, in: window))
                try await eventually { session.title == identity }
            }
            try await show("a", in: "1")
            try await show("b", in: "2")
            #expect(try await session.titles() == ["a", "b"])
            try await show("c", in: "1")
            #expect(try await session.titles() == ["b", "c"])
            try await show("d", in: "3")
            session.application.leave()
            try await show("e", in: "4")
            #expect(try await session.titles() == ["c", "d", "e"])
            try await show("f", in: "5")
            session.application.close { $0.window != "4" }
            try await show("g", in: "5")
            #expect(try await session.titles() == ["d", "g"])
            session.application.showNothing()
            try await eventually { session.feed.report.broker.content?.current == nil }
            try await show("d", in: "3")
            #expect(try await session.titles() == ["d"])
        }
    }

    @Test(
        "what is kept open is there beside what it shows, never current, and again with each broker, until it is over"
    )
    func keptOpen() async throws {
        try await onLoop {
            let session = try await AdapterSession()
            session.application.keepOpen(try session.shows("w", "A window"))
            session.application.show(try session.shows("a", "One"))
            try await eventually { session.title == "One" }
            try await session.have(["A window", "One"])
            session.application.keepOpen(try session.shows("w", "A smaller window"))
            session.application.keepOpen(try session.shows("w", "A larger window"))
            try await session.have(["A larger window", "One"])
            session.application.keepOpen(try session.shows("v", "Another window"))
            try await session.have(["Another window", "One"])
            session.application.showNothing()
            try await session.have(["Another window"])
            try await eventually { session.title == nil }
            #expect(session.feed.report.broker.content?.left == nil)
            try await session.killBroker()
            try await session.startBroker()
            try await session.have(["Another window"])
            session.application.keepOpen(try session.shows("v", "Late"))
            session.application.keepOpen(nil)
            try await session.have([])
            session.application.keepOpen(try session.shows("v", "Last"))
            try await session.have(["Last"])
            session.application.end()
            try await session.have([])
        }
    }

    @Test(
        "what comes after something that must not be offered is as current as what came before, if nothing else is by then"
    )
    func withholding() async throws {
        try await onLoop {
            let session = try await AdapterSession()
            session.application.show(try session.shows("a", "One"))
            try await eventually { session.title == "One" }
            session.application.withhold()
            session.application.show(try session.shows("b", "Two"), takingOver: false)
            try await eventually { session.title == "Two" }
            session.application.withhold()
            let other = AdaptedApplication(
                try ApplicationID("com.example.letters"), types: [try ActivityType(AdapterSession.type)],
                team: try Team("com.example.media"), receives: false, on: .address(session.bus.address))
            other.show(try session.shows("c", "A letter"))
            try await eventually { session.title == "A letter" && !session.application.isCurrent }
            session.application.show(try session.shows("b", "Two more"), takingOver: false)
            other.show(try session.shows("c", "A longer letter"))
            try await eventually { session.title == "A longer letter" }
            other.showNothing()
            try await eventually { session.feed.report.broker.content?.current == nil }
            #expect(session.application.shown?.properties["Title"] == .string("Two more"))
            session.application.withhold()
            #expect(session.application.shown == nil)
            session.application.end()
            other.end()
        }
    }

    @Test("the broker is told ten times a second at most, and of the latest, never of what is over")
    func pace() async throws {
        try await onLoop {
            let session = try await AdapterSession()
            var titles: [String?] = []
            session.feed.onChange = { if titles.last != session.title { titles.append(session.title) } }
            let begin = MainLoop.now
            for number in 1...1000 { session.application.show(try session.shows("\(number)", "\(number)")) }
            try await eventually { session.title == "1000" }
            let slots = (MainLoop.now - begin) / 100_000 + 2
            #expect(titles.compactMap { $0 }.count <= slots)
            session.application.show(try session.shows("late", "late"))
            session.application.showNothing()
            try await eventually { session.feed.report.broker.content?.current == nil }
            session.application.show(try session.shows("end", "end"))
            try await eventually { session.title == "end" }
            #expect(!titles.contains("late"))
        }
    }

    @Test("it steps back for good once the application registers itself")
    func steppingBack() async throws {
        try await onLoop {
            let session = try await AdapterSession()
            var told = 0
            session.application.onSteppedBack = { told += 1 }
            session.application.show(try session.shows("a", "One"))
            try await eventually { session.title == "One" }
            let native = session.learn()
            try await eventually { session.application.hasSteppedBack }
            #expect(told == 1 && session.application.shown == nil)
            session.application.show(try session.shows("b", "Two"))
            try await eventually { native.standing == .registered && session.title == nil }
            #expect(session.application.shown == nil)
            native.stop()
        }
    }

    @Test(
        "what was current when the broker ended is again with the next one, and what the user has left meanwhile is not"
    )
    func brokers() async throws {
        try await onLoop {
            let session = try await AdapterSession()
            session.application.show(try session.shows("a", "One"))
            try await eventually { session.title == "One" }
            try await session.killBroker()
            // The application goes on by itself: it is current in place of what was.
            session.application.show(try session.shows("b", "Two"), takingOver: false)
            try await session.startBroker()
            try await eventually { session.title == "Two" }
            try await session.killBroker()
            session.application.leave()
            try await session.startBroker()
            // Whatever would be current would be before this is.
            let other = AdaptedApplication(
                try ApplicationID("com.example.other"), types: [try ActivityType(AdapterSession.type)],
                team: try Team("com.example.media"), receives: false, on: .address(session.bus.address))
            var titles: [String] = []
            session.feed.onChange = { if let title = session.title { titles.append(title) } }
            other.show(try session.shows("c", "Three"))
            try await eventually { session.title == "Three" }
            #expect(titles.allSatisfy { $0 == "Three" })
            session.application.show(try session.shows("b", "Two"), takingOver: false)
            session.application.show(try session.shows("d", "Four"))
            try await eventually { session.title == "Four" }
            other.end()
        }
    }
}
