// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import MainLoop
import Platform
import TestSupport
import Testing

@Suite("Calls that end without a reply", .timeLimit(.minutes(2)))
struct EndTests {
    @Test("a call that is not answered in time ends with NoReply, and its late reply is dropped")
    func timeout() async throws {
        try await onLoop {
            let pair = try await Pair()
            let start = MainLoop.now
            #expect(await pair.error { try await pair.call("Pause", timeout: .milliseconds(30)) } == .noReply)
            #expect(MainLoop.now - start >= 30_000)
            try await eventually { pair.log.paused.count == 1 }
            pair.log.resume()
            try await pair.call("Effect")
        }
    }

    @Test("a call that says nothing of a time waits as long as its connection has patience")
    func patience() async throws {
        try await onLoop {
            let pair = try await Pair()
            pair.client.connection.patience = .milliseconds(30)
            let start = MainLoop.now
            #expect(
                await pair.error {
                    _ = try await pair.object().call("org.example.CallLog", "Pause", output: "") {
                        (_) throws(DBusError) in
                    }
                } == .noReply)
            #expect(MainLoop.now - start >= 30_000)
        }
    }

    @Test("of several calls each ends in its own time")
    func timeouts() async throws {
        try await onLoop {
            let pair = try await Pair()
            var ended: [Int] = []
            let tasks = [200, 20, 100].map { time in
                MainLoop.start {
                    let error = await pair.error {
                        try await pair.call("Pause", timeout: .milliseconds(time))
                    }
                    #expect(error == .noReply)
                    ended.append(time)
                }
            }
            for task in tasks { await task.value }
            #expect(ended.sorted() == [20, 100, 200] && ended.last == 200)
            pair.log.resume()
        }
    }

    @Test(
        "any time limit is taken",
        arguments: [Duration.zero, .seconds(-1), .seconds(Int64.max), .nanoseconds(1)])
    func oddTimeouts(_ timeout: Duration) async throws {
        try await onLoop {
            let pair = try await Pair()
            let error = await pair.error { try await pair.call("Effect", timeout: timeout) }
            #expect(error == nil || error == .noReply)
        }
    }

    @Test("a cancelled call ends at once")
    func cancellation() async throws {
        try await onLoop {
            let pair = try await Pair()
            let task = MainLoop.start { _ = try await pair.call("Pause") }
            try await eventually { pair.log.paused.count == 1 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            let before = MainLoop.start { _ = try await pair.call("Pause") }
            before.cancel()
            await #expect(throws: CancellationError.self) { try await before.value }
            pair.log.resume()
            try await pair.call("Effect")
        }
    }

    @Test("when the bus dies all calls fail and both ends are told once")
    func disconnect() async throws {
        try await onLoop {
            let pair = try await Pair()
            var closed: [ErrorName] = []
            pair.client.connection.onClosed = { closed.append($0.name) }
            let tasks = (0..<20).map { _ in MainLoop.start { _ = try await pair.call("Pause") } }
            try await eventually { pair.log.paused.count == 20 }
            pair.bus.kill()
            for task in tasks {
                let error = await #expect(throws: DBusError.self) { try await task.value }
                #expect(error?.name == .disconnected)
            }
            try await eventually { pair.server.connection.isClosed && pair.client.connection.isClosed }
            #expect(closed == [.disconnected])
            #expect(await pair.error { try await pair.call("Effect") } == .disconnected)
            // Replies to a dead bus are dropped.
            pair.log.resume()
            try await letPass(.milliseconds(20))
            #expect(closed.count == 1)
        }
    }

    @Test("calls on a connection that is given up fail instead of waiting")
    func givenUp() async throws {
        try await onLoop {
            let bus = try await TestBus.start()
            let server = try bus.connect()
            let log = CallLog()
            server.connection.policy = AllowAll()
            server.connection.objects.export("/log", [log])
            var client: Bus? = try bus.connect()
            let object = RemoteObject(try #require(client).connection, server.uniqueName, "/log")
            let task = MainLoop.start {
                _ = try await object.call("org.example.CallLog", "Pause", output: "") {
                    (_) throws(DBusError) in
                }
            }
            try await eventually { log.paused.count == 1 }
            client = nil
            let error = await #expect(throws: DBusError.self) { try await task.value }
            #expect(error?.name == .disconnected)
            log.resume()
        }
    }

    @Test("a callee that leaves the bus ends the calls to it")
    func calleeLeaves() async throws {
        try await onLoop {
            let bus = try await TestBus.start()
            let client = try bus.connect()
            let log = CallLog()
            var server: Bus? = try bus.connect()
            server?.connection.policy = AllowAll()
            server?.connection.objects.export("/log", [log])
            let object = RemoteObject(client.connection, try #require(server).uniqueName, "/log")
            let task = MainLoop.start {
                _ = try await object.call("org.example.CallLog", "Pause", output: "") {
                    (_) throws(DBusError) in
                }
            }
            try await eventually { log.paused.count == 1 }
            server = nil
            let error = await #expect(throws: DBusError.self) { try await task.value }
            #expect(error?.name == .noReply)
            log.resume()
        }
    }

    @Test("a caller that leaves the bus is told of, once, and only if it has called")
    func callerLeaves() async throws {
        try await onLoop {
            let pair = try await Pair()
            var vanished: [BusName] = []
            pair.server.onVanished = { vanished.append($0) }
            var (silent, caller): (Bus?, Bus?) = (try pair.bus.connect(), try pair.bus.connect())
            let name = try #require(caller).uniqueName
            let object = RemoteObject(
                try #require(caller).connection, pair.server.uniqueName, "/org/example/log")
            _ = try await object.call("org.example.CallLog", "Effect", output: "") { (_) throws(DBusError) in
            }
            silent = nil
            caller = nil
            try await eventually { !vanished.isEmpty }
            try await pair.call("Effect")
            #expect(vanished == [name])
            #expect(silent == nil && caller == nil)
        }
    }

    @Test("calls of a connection that has gone before it was known are not run")
    func goneBefore() async throws {
        try await onLoop {
            let pair = try await Pair()
            var caller: Bus? = try pair.bus.connect()
            for _ in 0..<10 {
                let object = RemoteObject(
                    try #require(caller).connection, pair.server.uniqueName, "/org/example/log")
                try object.post("org.example.CallLog", "Effect") { (_) throws(DBusError) in }
            }
            caller?.flush()
            caller = nil
            try await pair.call("Effect")
            #expect(pair.log.callers.allSatisfy { $0.credentials != nil })
        }
    }

    @Test("there is no bus where there is none")
    func noBus() async throws {
        try await onLoop {
            let error = #expect(throws: DBusError.self) {
                _ = try Bus(.address("unix:path=/nonexistent/bus"))
            }
            #expect(error?.name == .disconnected)
            #expect(throws: DBusError.self) { _ = try Bus(.address("nonsense")) }
            #expect(throws: DBusError.self) { _ = try Bus(.address("")) }
        }
    }
}
