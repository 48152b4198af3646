// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import MainLoop
import TestSupport
import Testing

@Suite("Calls over a bus", .timeLimit(.minutes(2)))
struct CallTests {
    @Test("a call gets its reply")
    func echo() async throws {
        try await onLoop {
            let pair = try await Pair()
            let reply = try await pair.object().call("org.example.CallLog", "Echo", output: "s") {
                (writer) throws(DBusError) in try writer.write("héllo")
            }
            var reader = MessageReader(reply)
            #expect(try reader.read(String.self) == "héllo")
        }
    }

    @Test("one that the bus does not tell of is answered, as in a sandbox without an identity")
    func unidentified() async throws {
        try await onLoop {
            final class Noting: AccessPolicy {
                var sandboxes: [Sandbox?] = []
                func decide(_ request: AccessRequest) -> AccessDecision {
                    sandboxes.append(request.caller.sandbox)
                    return .allow
                }
            }
            let (bus, policy) = (MemoryBus(), Noting())
            let (server, client) = (bus.connect(), bus.connect(in: .unknown))
            server.connection.policy = policy
            server.connection.objects.export("/org/example/deep/settings", [Settings()])
            let object = RemoteObject(client.connection, server.uniqueName, "/org/example/deep/settings")
            _ = try await object.properties("org.example.Settings")
            #expect(policy.sandboxes.allSatisfy { $0 == .unknown } && !policy.sandboxes.isEmpty)
        }
    }

    /// Sends `count` numbered calls without waiting, then waits for all replies.
    @MainLoop private func pipeline(_ pair: Pair, count: UInt32) async throws -> [UInt32] {
        let object = pair.object()
        let tasks = (0..<count).map { number in
            MainLoop.start {
                let reply = try await object.call("org.example.CallLog", "Note", output: "u") {
                    (writer) throws(DBusError) in try writer.write(number)
                }
                var reader = MessageReader(reply)
                return try reader.read(UInt32.self)
            }
        }
        var replies: [UInt32] = []
        for task in tasks { replies.append(try await task.value) }
        return replies
    }

    @Test("calls take effect in the order in which they were sent, from the very first on")
    func order() async throws {
        try await onLoop {
            let pair = try await Pair()
            // At this point the bus has not been asked yet who the caller is.
            #expect(try await pipeline(pair, count: 500) == Array(0..<500))
            #expect(pair.log.numbers == Array(0..<500))
            #expect(try await pipeline(pair, count: 500) == Array(0..<500))
            #expect(pair.log.numbers.count == 1000 && pair.log.numbers.suffix(500) == Array(0..<500)[...])
        }
    }

    @Test("a flood of 10,000 calls stays in order, none is lost")
    func flood() async throws {
        try await onLoop {
            let pair = try await Pair()
            #expect(try await pipeline(pair, count: 10_000).count == 10_000)
            #expect(pair.log.numbers == Array(0..<10_000))
        }
    }

    @Test("a flood of calls that want no reply stays in order, none is lost")
    func floodWithoutReplies() async throws {
        try await onLoop {
            let pair = try await Pair()
            for number in 0..<UInt32(10_000) {
                try pair.object().post("org.example.CallLog", "Note") {
                    (writer) throws(DBusError) in try writer.write(number)
                }
                // Other tests have links on this loop, which end when it stands still.
                if number.isMultiple(of: 500) { await Task.yield() }
            }
            try await eventually { pair.log.numbers.count == 10_000 }
            #expect(pair.log.numbers == Array(0..<10_000))
        }
    }

    @Test("a handler that waits does not hold up the calls after it")
    func waiting() async throws {
        try await onLoop {
            let pair = try await Pair()
            let paused = MainLoop.start { _ = try await pair.call("Pause") }
            #expect(try await pipeline(pair, count: 3) == [0, 1, 2])
            try await eventually { pair.log.paused.count == 1 }
            pair.log.resume()
            _ = try await paused.value
        }
    }

    @Test("the caller is known with its name and credentials, and without a sandbox")
    func caller() async throws {
        try await onLoop {
            let pair = try await Pair()
            _ = try await pipeline(pair, count: 1)
            let caller = try #require(pair.log.callers.first)
            #expect(caller.name == pair.client.uniqueName)
            #expect(caller.credentials?.userID == getUserID())
            #expect(caller.credentials?.processID == getProcessID())
            #expect(caller.sandbox == nil)
        }
    }

    @Test("a reply precedes the signals that the call causes, and both arrive in that order")
    func replyFirst() async throws {
        try await onLoop {
            let pair = try await Pair()
            var notes: [String] = []
            let token = pair.client.connection.onSignal("org.example.CallLog", "Happened") { _ in
                notes.append("signal")
            }
            pair.log.onEffect = {
                guard
                    let signal = try? Message.signal(
                        from: "/org/example/log", "org.example.CallLog", "Happened"),
                    (try? signal.setDestination(pair.client.uniqueName)) != nil
                else { return }
                pair.server.connection.post(signal)
            }
            for round in 1...50 {
                try await pair.call("Effect")
                notes.append("reply")
                try await eventually { notes.count == 2 * round }
            }
            #expect(notes == Array(repeating: ["reply", "signal"], count: 50).flatMap { $0 })
            withExtendedLifetime(token) {}
        }
    }

    @Test("a reply that another connection makes up is dropped")
    func madeUpReply() async throws {
        try await onLoop {
            let pair = try await Pair()
            let task = MainLoop.start { _ = try await pair.call("Echo", output: "s") }
            let paused = MainLoop.start { _ = try await pair.call("Pause") }
            _ = await task.result
            try await eventually { pair.log.paused.count == 1 }
            let stranger = try pair.bus.connect()
            for serial in 1...UInt32(100) {
                let reply = try Message.reply(to: Messages.call(serial: serial))
                try reply.setDestination(pair.client.uniqueName)
                stranger.connection.post(reply)
            }
            // The bus passes the replies on before it answers.
            _ = try await stranger.owner(of: "org.example.Nobody")
            var isOver = false
            MainLoop.start {
                _ = await paused.result
                isOver = true
            }
            _ = try await pair.client.owner(of: "org.example.Nobody")
            #expect(!isOver)
            pair.log.resume()
            _ = try await paused.value
        }
    }

    @Test("what fails gives the caller an error that says so")
    func errors() async throws {
        try await onLoop {
            let pair = try await Pair()
            #expect(await pair.error { try await pair.call("Odd") } == .failed)
            let error = await #expect(throws: DBusError.self) {
                _ = try await pair.object().call("org.example.CallLog", "Fail", output: "") {
                    (writer) throws(DBusError) in try writer.write("the reason")
                }
            }
            #expect(error == DBusError("org.example.Failed", "the reason"))
        }
    }

    @Test("wrong signatures, objects, interfaces and methods are refused by name")
    func unknown() async throws {
        try await onLoop {
            let pair = try await Pair()
            #expect(await pair.error { try await pair.call("Note") } == .invalidArgs)
            #expect(await pair.error { try await pair.call("Missing") } == .unknownMethod)
            #expect(await pair.error { try await pair.call("Note", "org.example.Missing") } == .unknownMethod)
            #expect(await pair.error { try await pair.call("Note", on: "/missing") } == .unknownObject)
            #expect(await pair.error { try await pair.call("Note", on: "/org/example") } == .unknownObject)
            #expect(await pair.error { try await pair.call("Effect", output: "s") } == .inconsistentMessage)
            let nobody = RemoteObject(pair.client.connection, ":9.9", "/")
            let error = await pair.error {
                _ = try await nobody.call("a.b", "C", output: "") { (_) throws(DBusError) in }
            }
            #expect(error == .serviceUnknown)
            // Whoever floods with long paths is not answered with as much.
            let long = try ObjectPath("/" + String(repeating: "a", count: 100_000))
            let refusal = await #expect(throws: DBusError.self) {
                _ = try await pair.object(long).call("a.b", "C", output: "") { (_) throws(DBusError) in }
            }
            #expect(refusal?.name == .unknownObject && refusal?.message.utf8.count ?? 0 < 512)
        }
    }

    @Test("without a policy everything is denied")
    func denied() async throws {
        try await onLoop {
            let pair = try await Pair(policy: nil)
            #expect(await pair.error { try await pair.call("Effect") } == .accessDenied)
            let properties = try? await pair.object("/org/example/deep/settings").properties(
                "org.example.Settings")
            #expect(properties?.isEmpty == true)
        }
    }

    @Test("a denied method is refused, a hidden one is on no object")
    func classes() async throws {
        try await onLoop {
            let pair = try await Pair(policy: ByClass())
            #expect(await pair.error { try await pair.call("Private") } == .accessDenied)
            #expect(await pair.error { try await pair.call("Secret") } == .unknownObject)
            #expect(await pair.error { try await pair.call("Effect") } == nil)
            pair.server.connection.objects.export("/org/example/log", [pair.log], access: "hidden")
            #expect(await pair.error { try await pair.call("Effect") } == .unknownObject)
            #expect(await pair.error { try await pair.call("Missing") } == .unknownObject)
            let introspection = await pair.error {
                try await pair.call("Introspect", .introspectable, output: "s")
            }
            #expect(introspection == .unknownObject)
        }
    }

    @Test("a call to a reserved path is refused here, and the bus lets us live")
    func reserved() async throws {
        try await onLoop {
            let pair = try await Pair()
            for path: ObjectPath in ["/org/freedesktop/DBus/Local", "/org/freedesktop/DBus/Locality"] {
                #expect(await pair.error { try await pair.call("Effect", on: path) } == .invalidArgs)
            }
            try await pair.call("Effect")
        }
    }

    @Test("Ping and GetMachineId are answered at any path")
    func peer() async throws {
        try await onLoop {
            let pair = try await Pair(policy: nil)
            try await pair.call("Ping", .peer, on: "/any")
            var reader = MessageReader(try await pair.call("GetMachineId", .peer, on: "/", output: "s"))
            #expect(try reader.read(String.self).utf8.count == 32)
            #expect(await pair.error { try await pair.call("Pong", .peer) } == .unknownMethod)
        }
    }
}
