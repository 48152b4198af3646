// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import MainLoop
import TestSupport
import Testing

/// What a bus may be.
enum BusKind: CaseIterable {
    case daemon, memory

    /// How a new bus of this kind is connected to.
    @MainLoop
    func start() async throws -> @MainLoop () throws -> Bus {
        switch self {
        case .daemon:
            let bus = try await TestBus.start()
            return { try bus.connect() }
        case .memory:
            let bus = MemoryBus()
            return { bus.connect() }
        }
    }
}

@Suite("Names on a bus", .timeLimit(.minutes(2)))
struct BusNameTests {
    private static let name: BusName = "org.example.Name"

    @Test(
        "a name is owned by the first, refused to the second, and free after its release",
        arguments: BusKind.allCases)
    func request(kind: BusKind) async throws {
        try await onLoop {
            let connect = try await kind.start()
            let (first, second) = (try connect(), try connect())
            #expect(first.uniqueName != second.uniqueName)
            #expect(try await first.owner(of: Self.name) == nil)
            #expect(try await first.request(Self.name) == .owned)
            #expect(try await first.request(Self.name) == .owned)
            #expect(try await second.request(Self.name) == .taken)
            #expect(try await second.owner(of: Self.name) == first.uniqueName)
            try await first.release(Self.name)
            #expect(try await second.owner(of: Self.name) == nil)
            #expect(try await second.request(Self.name) == .owned)
        }
    }

    @Test("a name may be replaced if its owner allows it, who is told", arguments: BusKind.allCases)
    func replace(kind: BusKind) async throws {
        try await onLoop {
            let connect = try await kind.start()
            let (first, second) = (try connect(), try connect())
            var lost: [BusName] = []
            first.onNameLost = { lost.append($0) }
            #expect(try await first.request(Self.name) == .owned)
            #expect(try await second.request(Self.name, replacing: true, replaceable: false) == .owned)
            try await eventually { lost == [Self.name] }
            #expect(try await first.request(Self.name, replacing: true) == .taken)
            #expect(try await first.owner(of: Self.name) == second.uniqueName)
        }
    }

    @Test("a watch tells what is so, and then each change", arguments: BusKind.allCases)
    func watch(kind: BusKind) async throws {
        try await onLoop {
            let connect = try await kind.start()
            let watcher = try connect()
            var owner: Bus? = try connect()
            var told: [BusName?] = []
            let watch = watcher.watch(Self.name) { told.append($0) }
            try await eventually { told == [nil] }
            let name = try #require(owner).uniqueName
            _ = try await owner?.request(Self.name)
            try await eventually { told == [nil, name] }
            var late: [BusName?] = []
            let another = watcher.watch(Self.name) { late.append($0) }
            try await eventually { late == [name] }
            owner = nil
            try await eventually { told == [nil, name, nil] && late == [name, nil] }
            withExtendedLifetime((watch, another)) {}
        }
    }

    @Test("a watch ends with its token, the others stay", arguments: BusKind.allCases)
    func endOfWatch(kind: BusKind) async throws {
        try await onLoop {
            let connect = try await kind.start()
            let (watcher, owner) = (try connect(), try connect())
            var (first, second): ([BusName?], [BusName?]) = ([], [])
            var watch: NameWatch? = watcher.watch(Self.name) { first.append($0) }
            let stays = watcher.watch(Self.name) { second.append($0) }
            try await eventually { first == [nil] && second == [nil] }
            watch = nil
            _ = try await owner.request(Self.name)
            try await eventually { second == [nil, owner.uniqueName] }
            #expect(first == [nil] && watch == nil)
            withExtendedLifetime(stays) {}
        }
    }

    @Test(
        "a watch that begins while the name changes hands ends with the right owner",
        arguments: BusKind.allCases)
    func race(kind: BusKind) async throws {
        try await onLoop {
            let connect = try await kind.start()
            let (watcher, owner) = (try connect(), try connect())
            for round in 0..<100 {
                var last: BusName??
                let request = MainLoop.start { try await owner.request(Self.name) }
                if round % 3 == 1 { try await MainLoop.sleep(for: .microseconds(round)) }
                let watch = watcher.watch(Self.name) { last = .some($0) }
                let release = MainLoop.start { try await owner.release(Self.name) }
                _ = try await (request.value, release.value)
                _ = try await owner.owner(of: Self.name)
                try await eventually { last == .some(.some(owner.uniqueName)) || last == .some(.none) }
                // Everything that the bus said before this answer has been reported by now.
                _ = try await watcher.owner(of: Self.name)
                try await eventually { last == .some(.none) }
                withExtendedLifetime(watch) {}
            }
        }
    }

    @Test(
        "signals reach those who asked for them, until the match is taken back",
        arguments: BusKind.allCases)
    func matches(kind: BusKind) async throws {
        try await onLoop {
            let connect = try await kind.start()
            let (sender, receiver) = (try connect(), try connect())
            var got = 0
            let token = receiver.connection.onSignal("org.example.CallLog") { _ in got += 1 }
            let rule = MatchRule(
                sender: sender.uniqueName, interface: "org.example.CallLog", member: "Happened")
            @MainLoop func emit() async throws {
                sender.connection.post(try Message.signal(from: "/", "org.example.CallLog", "Happened"))
                // Both round trips end after the signal has been passed on.
                _ = try await sender.owner(of: Self.name)
                _ = try await receiver.owner(of: Self.name)
            }
            try await emit()
            #expect(got == 0)
            receiver.addMatch(rule)
            receiver.addMatch(rule)
            _ = try await receiver.owner(of: Self.name)
            try await emit()
            #expect(got == 1)
            receiver.removeMatch(rule)
            _ = try await receiver.owner(of: Self.name)
            try await emit()
            #expect(got == 2)
            receiver.removeMatch(rule)
            _ = try await receiver.owner(of: Self.name)
            try await emit()
            #expect(got == 2)
            withExtendedLifetime(token) {}
        }
    }

    @Test("a service is started by its name, and one that does not exist is unknown")
    func startService() async throws {
        try await onLoop {
            let service = "[D-BUS Service]\nName=org.example.Started\nExec=/bin/false\n"
            let bus = try await TestBus.start(services: ["org.example.Started.service": service])
            let client = try bus.connect()
            for name in ["org.example.Started", "org.example.Missing"] as [BusName] {
                let error = await #expect(throws: DBusError.self) { try await client.startService(name) }
                #expect((error?.name == .serviceUnknown) == (name == "org.example.Missing"))
            }
        }
    }
}
