// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import TestSupport
import Testing

@Suite("Properties", .timeLimit(.minutes(1)))
struct PropertyTests {
    private static let path: ObjectPath = "/org/example/deep/settings"
    private static let interface: InterfaceName = "org.example.Settings"

    @Test("are read and written by name")
    func getAndSet() async throws {
        try await onLoop {
            let pair = try await Pair()
            let object = pair.object(Self.path)
            #expect(try await object.property(Self.interface, "Title", as: String.self) == "first")
            #expect(try await object.property(Self.interface, "Count", as: UInt32.self) == 1)
            try await object.setProperty(Self.interface, "Title", "second")
            #expect(pair.settings.title == "second")
            #expect(try await object.property(Self.interface, "Title", as: String.self) == "second")
        }
    }

    @Test("are all read at once, but for those that cannot be read")
    func getAll() async throws {
        try await onLoop {
            let pair = try await Pair()
            let all = try await pair.object(Self.path).properties(Self.interface)
            #expect(all.keys.sorted() == ["Count", "Denied", "Guarded", "Hidden", "Tags", "Title"])
            #expect(all["Title"] == .string("first") && all["Count"] == .uint32(1))
            #expect(all["Tags"] == .strings(["a", "b"]))
        }
    }

    @Test("that are denied or hidden are refused one by one and left out of all")
    func access() async throws {
        try await onLoop {
            let pair = try await Pair(policy: ByClass())
            let object = pair.object(Self.path)
            let all = try await object.properties(Self.interface)
            #expect(all.keys.sorted() == ["Count", "Guarded", "Tags", "Title"])
            for (name, expected) in [("Denied", ErrorName.accessDenied), ("Hidden", .unknownObject)] {
                let read = await pair.error {
                    _ = try await object.property(Self.interface, name, as: String.self)
                }
                #expect(read == expected)
                let written = await pair.error { try await object.setProperty(Self.interface, name, "x") }
                #expect(written == expected)
            }
            #expect(
                await pair.error { try await object.setProperty(Self.interface, "Guarded", "x") }
                    == .accessDenied)
            #expect(pair.settings.title == "first")
        }
    }

    @Test("that are wrongly asked for are refused by what is wrong")
    func refusals() async throws {
        try await onLoop {
            let pair = try await Pair()
            let object = pair.object(Self.path)
            func write(_ name: String, _ value: some DBusType) async -> DBusError? {
                do {
                    try await object.setProperty(Self.interface, name, value)
                    return nil
                } catch { return DBusError.converting(error) }
            }
            #expect(await write("Count", UInt32(2))?.name == .propertyReadOnly)
            #expect(await write("Missing", "x")?.name == .unknownProperty)
            #expect(await write("Title", "refused")?.name == .invalidArgs)
            let wrong = await write("Title", UInt32(1))
            #expect(wrong?.name == .invalidArgs)
            #expect(wrong?.message == "“Title”: Expected a value of type s, found u.")
            #expect(await write("WriteOnly", "written") == nil)
            #expect(pair.settings.title == "written")
            let read = await pair.error {
                _ = try await object.property(Self.interface, "WriteOnly", as: String.self)
            }
            #expect(read == .invalidArgs)
            let missing = await pair.error { _ = try await object.properties("org.example.Missing") }
            #expect(missing == .unknownInterface)
            #expect(
                await pair.error { _ = try await pair.object("/missing").properties(Self.interface) }
                    == .unknownObject)
            #expect(
                await pair.error { try await pair.call("GetAll", .properties, on: Self.path) } == .invalidArgs
            )
            #expect(
                await pair.error { try await pair.call("Missing", .properties, on: Self.path) }
                    == .unknownMethod)
        }
    }

    @Test(
        "that change are told to one connection, to the subscribers that may read them, or to both, once each"
    )
    func changes() async throws {
        try await onLoop {
            let pair = try await Pair(policy: ByClass())
            let objects = pair.server.connection.objects
            objects.export("/org/example", [pair.log])
            objects.manage("/org/example")
            var changed: [[String: Value]] = []
            let token = pair.client.connection.onSignal(.properties, "PropertiesChanged") { signal in
                var reader = MessageReader(signal)
                #expect((try? reader.read(String.self)) == "org.example.Settings")
                changed.append((try? reader.read()) ?? [:])
                #expect((try? reader.read([String].self)) == [])
                #expect(signal.destination == pair.client.uniqueName.text && signal.path == Self.path)
            }
            objects.propertiesChanged(Self.path, Self.interface, ["Title"], tell: .subscribers)
            try await pair.call("Effect")
            #expect(changed.isEmpty)
            _ = try await pair.object("/org/example").managedObjects()
            objects.propertiesChanged(
                Self.path, Self.interface, ["Title", "Denied", "Hidden"], tell: .subscribers)
            objects.propertiesChanged(Self.path, Self.interface, ["Denied"], tell: .subscribers)
            objects.propertiesChanged(
                Self.path, Self.interface, ["Count"], tell: .only(pair.client.uniqueName))
            objects.propertiesChanged(
                Self.path, Self.interface, ["Count"], tell: .subscribersAnd(pair.client.uniqueName))
            objects.propertiesChanged(
                Self.path, Self.interface, ["Title", "Denied"], tell: .subscribersAnd(pair.server.uniqueName))
            objects.propertiesChanged(
                "/missing", Self.interface, ["Count"], tell: .only(pair.client.uniqueName))
            try await pair.call("Effect")
            #expect(
                changed == [
                    ["Title": .string("first")], ["Count": .uint32(1)], ["Count": .uint32(1)],
                    ["Title": .string("first")],
                ])
            withExtendedLifetime(token) {}
        }
    }

    @Test("that change are told to each subscriber by its own name, and once")
    func everySubscriber() async throws {
        try await onLoop {
            let pair = try await Pair()
            let objects = pair.server.connection.objects
            objects.export("/org/example", [pair.log])
            objects.manage("/org/example")
            let buses = [pair.client, try pair.bus.connect()]
            var told: [String?: [[String: Value]]] = [:]
            let tokens = buses.map { bus in
                bus.connection.onSignal(.properties, "PropertiesChanged") { signal in
                    #expect(signal.destination == bus.uniqueName.text)
                    var reader = MessageReader(signal)
                    _ = try? reader.read(String.self)
                    told[signal.destination, default: []].append((try? reader.read()) ?? [:])
                }
            }
            for bus in buses {
                let root = RemoteObject(bus.connection, pair.server.uniqueName, "/org/example")
                _ = try await root.managedObjects()
            }
            objects.propertiesChanged(Self.path, Self.interface, ["Title", "Count"], tell: .subscribers)
            try await eventually { told.count == 2 }
            for bus in buses {
                #expect(told[bus.uniqueName.text] == [["Title": .string("first"), "Count": .uint32(1)]])
            }
            withExtendedLifetime(tokens) {}
        }
    }
}
