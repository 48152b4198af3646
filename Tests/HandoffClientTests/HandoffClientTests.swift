// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

/// A session with a bus of its own, and a broker in a process of its own where a test wants one.
@MainLoop
private final class ClientSession {
    let bus: TestBus
    let recorder = Recorder()
    private let folder: TemporaryDirectory
    private var brokers: [ChildProcess] = []

    static let declaration = ClientDeclaration(
        applicationID: "com.example.notes", activityTypes: ["com.example.notes.edit"])
    static let activity = ActivityKey(1)
    static let other = ActivityKey(2)

    private init(_ bus: TestBus, _ folder: TemporaryDirectory) { (self.bus, self.folder) = (bus, folder) }

    static func start(withBroker: Bool = true) async throws -> ClientSession {
        let session = ClientSession(try await TestBus.start(), try TemporaryDirectory())
        if withBroker {
            try session.startBroker()
            try await session.awaitBroker()
        }
        return session
    }

    func startBroker() throws {
        var environment = bus.environment
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "HOME"] {
            environment[name] = folder.path("home")
        }
        brokers.append(try ChildProcess([program("handoffd"), "--replace"], environment: environment))
    }

    /// Waits until somebody has the broker's name.
    private func awaitBroker() async throws {
        let user = try bus.connect()
        var owner: BusName?
        let watch = user.watch(HandoffNames.broker) { owner = $0 }
        try await eventually { owner != nil }
        withExtendedLifetime(watch) {}
    }

    /// Kills the broker, as a crash would.
    func killBroker() async throws {
        guard let broker = brokers.last else { return }
        broker.send(signal: 9)
        try await eventually { broker.end != nil }
    }

    /// A client with this session's recorder, which is started.
    func client() -> HandoffClient {
        let client = HandoffClient(.address(bus.address))
        client.delegate = recorder
        client.start(Self.declaration)
        return client
    }

    /// What a program on the bus sees of the activities: their titles, the current one's first.
    func titles() async throws -> [String] {
        let user = try bus.connect()
        guard let owner = try await user.owner(of: HandoffNames.broker) else { return [] }
        let objects = try await Daemon(bus: user, name: owner).brokerObjects()
        let activities = objects.values.compactMap { $0[ActivityProxy.interface.text] }
        return activities.sorted { $0.flag("Current") && !$1.flag("Current") }.map { $0.text("Title") }
    }
}

@Suite("An application as a client of the broker", .serialized)
struct HandoffClientTests {
    private typealias Session = ClientSession

    @Test("what was called before there was a broker takes effect when it comes")
    func before() async throws {
        try await onLoop {
            let session = try await Session.start(withBroker: false)
            let client = session.client()
            client.create(
                Session.activity, type: "com.example.notes.edit", properties: ["Title": .string("a")])
            client.becomeCurrent(Session.activity)
            client.update(Session.activity, ["Title": .string("b")])
            try await eventually { session.recorder.standings == [.absent] }
            try session.startBroker()
            try await eventually { session.recorder.current == [Session.activity] }
            #expect(session.recorder.standings == [.absent, .registered])
            #expect(try await session.titles() == ["b"])
        }
    }

    @Test("without a session bus everything is accepted, and nothing happens")
    func withoutBus() async throws {
        try await onLoop {
            let recorder = Recorder()
            let client = HandoffClient(.address("unix:path=/nonexistent"))
            client.delegate = recorder
            client.start(Session.declaration)
            client.create(Session.activity, type: "", properties: [:])
            client.becomeCurrent(Session.activity)
            try await eventually { recorder.standings == [.withoutBus] }
            await client.settle(within: .seconds(10))
            client.stop()
            #expect(recorder.events.isEmpty)
        }
    }

    @Test(
        "a broker that is killed and started again has it all again within five seconds, and current what was current"
    )
    func killed() async throws {
        try await onLoop {
            let session = try await Session.start()
            let client = session.client()
            for key in [Session.activity, Session.other] {
                client.create(key, type: "", properties: ["Title": .string("\(key.value)")])
            }
            client.becomeCurrent(Session.other)
            try await eventually { session.recorder.current == [Session.other] }
            let former = session.recorder.paths
            try await session.killBroker()
            try await eventually { session.recorder.standings.last == .absent }
            #expect(session.recorder.current.isEmpty)
            client.update(Session.other, ["Title": .string("new")])
            let begin = MainLoop.now
            try session.startBroker()
            try await eventually { session.recorder.paths.values.allSatisfy { !former.values.contains($0) } }
            await client.settle(within: .seconds(10))
            #expect(try await session.titles() == ["new", "1"])
            try await eventually { session.recorder.current == [Session.other] }
            #expect(MainLoop.now - begin < 5_000_000)
            #expect(session.recorder.events == ["ended"])
        }
    }

    @Test("what another application has taken over is not made current again at the next broker")
    func takenOver() async throws {
        try await onLoop {
            let session = try await Session.start()
            let (client, stranger) = (session.client(), HandoffClient(.address(session.bus.address)))
            client.create(Session.activity, type: "", properties: ["Title": .string("mine")])
            client.becomeCurrent(Session.activity)
            try await eventually { session.recorder.current == [Session.activity] }
            stranger.start(
                ClientDeclaration(applicationID: "com.example.other", activityTypes: ["com.example.other"]))
            stranger.create(Session.activity, type: "", properties: ["Title": .string("theirs")])
            stranger.becomeCurrent(Session.activity)
            try await eventually { session.recorder.current.isEmpty }
            let former = session.recorder.paths
            // The one takes the other's place.
            try session.startBroker()
            try await eventually { session.recorder.paths != former }
            var titles: [String] = []
            while titles != ["theirs", "mine"] { titles = try await session.titles() }
            await client.settle(within: .seconds(10))
            #expect(session.recorder.current.isEmpty)
            #expect(session.recorder.events == ["replaced"])
        }
    }

    @Test("a thousand changes in one turn of the loop are one Update")
    func oneUpdate() async throws {
        try await onLoop {
            let session = try await Session.start()
            let client = session.client()
            client.create(Session.activity, type: "", properties: [:])
            try await eventually { session.recorder.paths.count == 1 }
            let monitor = try ChildProcess([
                "dbus-monitor", "--address", session.bus.address,
                "type='method_call',interface='org.example.Handoff.Activity'",
            ])
            try await eventually { monitor.output.contains("NameLost") }
            for number in 0..<1000 { client.update(Session.activity, ["Title": .string("\(number)")]) }
            await client.settle(within: .seconds(10))
            client.becomeCurrent(Session.activity)
            try await eventually { monitor.output.contains("member=BecomeCurrent") }
            monitor.send(signal: 15)
            #expect(monitor.output.split(separator: "\n").filter { $0.contains("member=Update") }.count == 1)
            #expect(try await session.titles() == ["999"])
        }
    }

    @Test(
        "the state is asked for when it is needed; what is answered is kept for the next broker, and NeedsSave is not"
    )
    func saving() async throws {
        try await onLoop {
            let session = try await Session.start()
            session.recorder.onWillSave = { ["Title": .string("saved")] }
            let client = session.client()
            client.create(Session.activity, type: "", properties: ["NeedsSave": .boolean(true)])
            client.becomeCurrent(Session.activity)
            try await eventually { session.recorder.events == ["needs save: false"] }
            try await eventually {
                client.properties(of: Session.activity) == [
                    "Title": .string("saved"), "NeedsSave": .boolean(false),
                ]
            }
            #expect(try await session.titles() == ["saved"])
        }
    }

    @Test("a state that breaks a rule is refused to the application that has answered it")
    func savingTooMuch() async throws {
        try await onLoop {
            let session = try await Session.start()
            session.recorder.onWillSave = {
                ["UserInfo": .properties(["a": .bytes([UInt8](repeating: 0, count: 200_000))])]
            }
            let client = session.client()
            client.create(Session.activity, type: "", properties: ["NeedsSave": .boolean(true)])
            client.becomeCurrent(Session.activity)
            try await eventually { session.recorder.events.contains { $0.contains("UserInfoTooLarge") } }
        }
    }

    @Test("what the broker refuses is reported, and the property has its former value again")
    func refusal() async throws {
        try await onLoop {
            let session = try await Session.start()
            let client = session.client()
            client.create(
                Session.activity, type: "", properties: ["WebpageURL": .string("https://a.example")])
            client.create(Session.other, type: "com.example.undeclared", properties: [:])
            await client.settle(within: .seconds(10))
            try await eventually { session.recorder.paths.count == 1 }
            client.update(Session.activity, ["WebpageURL": .string("nonsense"), "Title": .string("b")])
            try await eventually { session.recorder.events.count == 2 }
            #expect(
                session.recorder.events == [
                    "refused: org.example.Handoff.Error.TypeNotDeclared []",
                    "refused: org.example.Handoff.Error.InvalidURL [\"WebpageURL\"]",
                ])
            #expect(
                client.properties(of: Session.activity) == [
                    "WebpageURL": .string("https://a.example"), "Title": .string("b"),
                ])
        }
    }

    @Test("several clients in one process are several applications")
    func several() async throws {
        try await onLoop {
            let session = try await Session.start()
            let clients = (0..<3).map { number in
                let client = HandoffClient(.address(session.bus.address))
                client.start(
                    ClientDeclaration(applicationID: "com.example.a\(number)", activityTypes: ["t"]))
                client.create(Session.activity, type: "t", properties: ["Title": .string("\(number)")])
                return client
            }
            var titles: [String] = []
            while titles.count < 3 { titles = try await session.titles() }
            #expect(titles.sorted() == ["0", "1", "2"])
            clients[1].stop()
            while titles.count > 2 { titles = try await session.titles() }
            #expect(titles.sorted() == ["0", "2"])
        }
    }
}
