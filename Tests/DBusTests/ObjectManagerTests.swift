// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import MainLoop
import TestSupport
import Testing

/// What a connection is told about added and removed objects.
@MainLoop
private final class Listener {
    private(set) var notes: [String] = []
    private(set) var destinations: Set<String?> = []
    private var tokens: [SignalToken] = []

    init(_ bus: Bus) {
        tokens = ["InterfacesAdded", "InterfacesRemoved"].map { (member: MemberName) in
            bus.connection.onSignal(.objectManager, member) { [weak self] in self?.note($0, member) }
        }
    }

    private func note(_ signal: Message, _ member: MemberName) {
        destinations.insert(signal.destination)
        var reader = MessageReader(signal)
        let path = (try? reader.read(ObjectPath.self))?.text ?? "?"
        if member == "InterfacesAdded" {
            let interfaces = (try? reader.read([String: [String: Value]].self)) ?? [:]
            notes.append("+\(path) \(interfaces.keys.sorted())")
        } else {
            notes.append("-\(path) \((try? reader.read([String].self)) ?? [])")
        }
    }
}

@Suite("The object manager", .timeLimit(.minutes(1)))
struct ObjectManagerTests {
    /// A server that manages `/org/example`.
    @MainLoop private func managed(_ policy: any AccessPolicy = AllowAll()) async throws -> Pair {
        let pair = try await Pair(policy: policy)
        pair.server.connection.objects.export("/org/example", [pair.log])
        pair.server.connection.objects.manage("/org/example")
        return pair
    }

    @Test("lists what is below it, with interfaces and properties")
    func list() async throws {
        try await onLoop {
            let pair = try await managed()
            pair.server.connection.objects.export("/org/example/unlisted", [pair.log], isListed: false)
            pair.server.connection.objects.export("/org/examples", [pair.log])
            let objects = try await pair.object("/org/example").managedObjects()
            #expect(objects.keys.sorted() == ["/org/example/deep/settings", "/org/example/log"])
            #expect(objects["/org/example/log"] == ["org.example.CallLog": [:]])
            #expect(
                objects["/org/example/deep/settings"]?["org.example.Settings"]?["Title"] == .string("first"))
        }
    }

    @Test("is only where it is said to be")
    func elsewhere() async throws {
        try await onLoop {
            let pair = try await managed()
            for path in ["/org/example/log", "/org"] as [ObjectPath] {
                let error = await pair.error { _ = try await pair.object(path).managedObjects() }
                #expect(error == .unknownMethod)
            }
            #expect(
                await pair.error { _ = try await pair.object("/missing").managedObjects() } == .unknownObject)
        }
    }

    @Test("tells those who have asked of what comes and goes, each by name, and nobody else")
    func signals() async throws {
        try await onLoop {
            let pair = try await managed()
            let other = try pair.bus.connect()
            other.addMatch(MatchRule(sender: pair.server.uniqueName, interface: .objectManager))
            let (listener, stranger) = (Listener(pair.client), Listener(other))
            let objects = pair.server.connection.objects
            objects.export("/org/example/early", [pair.log])
            _ = try await pair.object("/org/example").managedObjects()
            objects.export("/org/example/new", [pair.settings, pair.log])
            objects.export("/org/example/quiet", [pair.log], isListed: false)
            objects.export("/elsewhere", [pair.log])
            objects.unexport("/org/example/quiet")
            objects.unexport("/org/example/new")
            objects.unexport("/org/example/new")
            try await pair.call("Effect")
            _ = try await other.owner(of: "org.example.Nobody")
            let interfaces = ["org.example.CallLog", "org.example.Settings"]
            let removed = ["org.example.Settings", "org.example.CallLog"]
            #expect(listener.notes == ["+/org/example/new \(interfaces)", "-/org/example/new \(removed)"])
            #expect(listener.destinations == [pair.client.uniqueName.text])
            #expect(stranger.notes.isEmpty)
        }
    }

    @Test("hides what the subscriber may not know of")
    func hidden() async throws {
        try await onLoop {
            let pair = try await managed(ByClass())
            let listener = Listener(pair.client)
            let objects = pair.server.connection.objects
            objects.export("/org/example/log", [pair.log], access: "hidden")
            let listed = try await pair.object("/org/example").managedObjects()
            #expect(listed.keys.sorted() == ["/org/example/deep/settings"])
            #expect(listed["/org/example/deep/settings"]?["org.example.Settings"]?["Hidden"] == nil)
            objects.export("/org/example/secret", [pair.log], access: "hidden")
            objects.unexport("/org/example/secret")
            try await pair.call("Effect", on: "/org/example")
            #expect(listener.notes.isEmpty)
        }
    }

    @Test("forgets a subscriber that has left the bus")
    func forgotten() async throws {
        try await onLoop {
            let pair = try await managed()
            var guest: Bus? = try pair.bus.connect()
            let root = RemoteObject(try #require(guest).connection, pair.server.uniqueName, "/org/example")
            _ = try await root.managedObjects()
            let gone = Promise<BusName>()
            pair.server.onVanished = { gone.keep($0) }
            let name = guest?.uniqueName
            guest = nil
            #expect(try await gone.get() == name)
            pair.server.connection.objects.export("/org/example/new", [pair.log])
            try await pair.call("Effect")
        }
    }
}
