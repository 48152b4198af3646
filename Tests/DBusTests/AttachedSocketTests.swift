// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import MainLoop
import TestSupport
import Testing

@testable import DBus

@Suite("A socket that passes the bus by", .timeLimit(.minutes(1)))
struct AttachedSocketTests {
    /// Two connections of a bus with a socket between them.
    @MainLoop
    private final class AttachedPair {
        let pair: Pair
        let client: AttachedSocket
        let server: AttachedSocket
        private(set) var ended: [String] = []

        init() async throws {
            pair = try await Pair()
            let ends = try FileDescriptor.socketPair()
            client = AttachedSocket(ends.ours, to: pair.server.uniqueName)
            server = AttachedSocket(ends.theirs, to: pair.client.uniqueName)
            client.onEnded = { [weak self] in self?.ended.append("client") }
            server.onEnded = { [weak self] in self?.ended.append("server") }
            pair.client.connection.attach(client)
            pair.server.connection.attach(server)
        }

        func note(_ number: UInt32) async throws -> UInt32 {
            let reply = try await pair.object().call("org.example.CallLog", "Note", output: "u") {
                (writer) throws(DBusError) in try writer.write(number)
            }
            var reader = MessageReader(reply)
            return try reader.read()
        }
    }

    @Test("what is called by it is answered by it, in order, and the caller is who it is on the bus")
    func calls() async throws {
        try await onLoop {
            let attached = try await AttachedPair()
            let tasks = (0..<100).map { number in MainLoop.start { try await attached.note(UInt32(number)) } }
            for (number, task) in tasks.enumerated() { #expect(try await task.value == UInt32(number)) }
            #expect(attached.pair.log.numbers == Array(0..<100))
            #expect(attached.pair.log.callers.allSatisfy { $0.name == attached.pair.client.uniqueName })
        }
    }

    @Test("a descriptor goes along in both directions, and nobody keeps it")
    func descriptors() async throws {
        try await onLoop {
            let attached = try await AttachedPair()
            let sockets = try FileDescriptor.socketPair()
            let file = try #require(OpenFile(sockets.theirs.number))
            for _ in 0..<20 {
                let message = try Message.call(
                    to: attached.pair.server.uniqueName, "/org/example/log", "org.example.CallLog", "Take")
                var writer = MessageWriter(message)
                try writer.write(sockets.theirs)
                _ = try await attached.pair.client.connection.call(message)
                #expect(readByte(from: sockets.ours.number) == UInt8(ascii: "x"))
                let reply = try await attached.pair.call("Give", output: "h")
                var reader = MessageReader(reply)
                let descriptor = try reader.readFileDescriptor()
                #expect(fcntl(descriptor.number, F_GETFD) == FD_CLOEXEC)
                #expect(readByte(from: descriptor.number) == UInt8(ascii: "x"))
            }
            try await eventually { file.count == 1 }
            #expect(attached.ended.isEmpty)
        }
    }

    @Test("several descriptors go along in both directions, each for what it is, and nobody keeps them")
    func several() async throws {
        try await onLoop {
            let attached = try await AttachedPair()
            let sockets = try FileDescriptor.socketPair()
            let first = try #require(OpenFile(sockets.ours.number))
            let second = try #require(OpenFile(sockets.theirs.number))
            for _ in 0..<20 {
                let message = try Message.call(
                    to: attached.pair.server.uniqueName, "/org/example/log", "org.example.CallLog", "Swap")
                var writer = MessageWriter(message)
                try writer.write(sockets.ours)
                try writer.write(sockets.theirs)
                let reply = try await attached.pair.client.connection.call(message)
                #expect(reply.signature == "hh")
                var reader = MessageReader(reply)
                for file in [second, first] {
                    let descriptor = try reader.readFileDescriptor()
                    #expect(fcntl(descriptor.number, F_GETFD) == FD_CLOEXEC)
                    #expect(OpenFile(descriptor.number) == file)
                }
            }
            try await eventually { first.count == 1 && second.count == 1 }
            #expect(attached.ended.isEmpty)
        }
    }

    @Test(
        "descriptors that nobody asked for are closed, and the socket goes on",
        arguments: ["Note", "Missing", "Take"])
    func unexpected(_ member: String) async throws {
        try await onLoop {
            let attached = try await AttachedPair()
            let sockets = try FileDescriptor.socketPair()
            let file = try #require(OpenFile(sockets.theirs.number))
            for _ in 0..<20 {
                let message = try Message.call(
                    to: attached.pair.server.uniqueName, "/org/example/log", "org.example.CallLog",
                    MemberName(member))
                var writer = MessageWriter(message)
                for _ in 0..<3 { try writer.write(sockets.theirs) }
                let error = await attached.pair.error {
                    _ = try await attached.pair.client.connection.call(message)
                }
                #expect(error == (member == "Missing" ? .unknownMethod : .invalidArgs))
            }
            try await eventually { file.count == 1 }
            #expect(try await attached.note(1) == 1)
            #expect(attached.ended.isEmpty)
        }
    }

    @Test("calls that have begun and wait are so many, and further ones are refused")
    func waiting() async throws {
        try await onLoop {
            let attached = try await AttachedPair()
            var refused = 0
            for (count, expected) in [(2048, 0), (52, 52)] {
                for _ in 0..<count {
                    MainLoop.start {
                        let error = await attached.pair.error { _ = try await attached.pair.call("Pause") }
                        if error == .limitsExceeded { refused += 1 }
                    }
                }
                try await eventually { refused == expected && attached.pair.log.paused.count == 2048 }
            }
            attached.pair.log.resume()
            #expect(try await attached.note(1) == 1)
        }
    }

    @Test("whoever waits is told when it ends, once, and the bus carries what follows")
    func end() async throws {
        try await onLoop {
            let attached = try await AttachedPair()
            let waiting = MainLoop.start { _ = try await attached.pair.call("Pause") }
            try await eventually { attached.pair.log.paused.count == 1 }
            attached.pair.server.connection.detach(attached.pair.client.uniqueName)
            let error = await attached.pair.error { try await waiting.value }
            #expect(error == .noReply)
            #expect(attached.ended == ["client"])
            #expect(try await attached.note(7) == 7)
            // The answer of a call that came by it goes nowhere, rather than to another call of that number.
            attached.pair.log.resume()
            #expect(try await attached.note(8) == 8)
        }
    }

    @Test("nothing is kept of what came by the socket of somebody who leaves before it is known who that is")
    func unknown() async throws {
        try await onLoop {
            let pair = try await Pair()
            let name: BusName = ":1.12345"
            let ends = try FileDescriptor.socketPair()
            let message = try Message.call(to: nil, "/org/example/log", "org.example.CallLog", "Effect")
            message.setSerial(1)
            let bytes = try message.marshal()
            #expect(send(ends.theirs.number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
            pair.server.connection.attach(AttachedSocket(ends.ours, to: name))
            // What has come is taken before the bus says that there is nobody of that name.
            weak let line = pair.server.connection.directory?.knownLine(of: name)
            #expect(line != nil)
            try await eventually { line == nil && !pair.server.knows(name) }
            #expect(readByte(from: ends.theirs.number) == nil && pair.log.callers.isEmpty)
        }
    }

    @Test("a call that came by the bus is answered there")
    func ways() async throws {
        try await onLoop {
            let pair = try await Pair()
            let waiting = MainLoop.start { _ = try await pair.call("Pause") }
            try await eventually { pair.log.paused.count == 1 }
            let ends = try FileDescriptor.socketPair()
            pair.server.connection.attach(AttachedSocket(ends.ours, to: pair.client.uniqueName))
            pair.log.resume()
            try await waiting.value
        }
    }

    @Test("much that is not read makes it crowded, until it is read; all of it arrives")
    func crowding() async throws {
        try await onLoop {
            let attached = try await AttachedPair()
            let text = String(repeating: "x", count: 1 << 16)
            var (changes, arrived) = ([Bool](), 0)
            attached.client.onCrowding = { changes.append(attached.client.isCrowded) }
            let token = attached.pair.server.connection.onSignal("org.example.CallLog", "Told") { signal in
                var reader = MessageReader(signal)
                if (try? reader.read(String.self)) == text { arrived += 1 }
            }
            for _ in 0..<100 {
                let signal = try Message.signal(from: "/org/example/log", "org.example.CallLog", "Told")
                try signal.setDestination(attached.pair.server.uniqueName)
                var writer = MessageWriter(signal)
                try writer.write(text)
                try attached.pair.client.connection.send(signal)
            }
            try await eventually { arrived == 100 }
            withExtendedLifetime(token) {}
            // It may be read and filled in turns.
            #expect(changes.first == true && changes.last == false)
            #expect(changes.enumerated().allSatisfy { $0.element == ($0.offset % 2 == 0) })
        }
    }

    @Test("whatever the other side writes, in whatever pieces, ends it or is a message, and nothing waits on")
    func anything() async throws {
        try await onLoop {
            for seed in 0..<60 as Range<UInt64> {
                var random = Seeded(seed)
                let pair = try await Pair()
                let ends = try FileDescriptor.socketPair()
                let other = ends.theirs.take()
                defer { close(other) }
                let socket = AttachedSocket(ends.ours, to: pair.client.uniqueName)
                var isEnded = false
                socket.onEnded = { isEnded = true }
                pair.server.connection.attach(socket)
                let message = try Message.call(
                    to: pair.server.uniqueName, "/org/example/log", "org.example.CallLog", "Echo")
                var writer = MessageWriter(message)
                try writer.write("text")
                message.setSerial(5)
                var bytes = try message.marshal()
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let index = bytes.indices.randomElement(using: &random) ?? 0
                    bytes[index] = .random(in: 0...255, using: &random)
                }
                let cut = Int.random(in: 0...bytes.count, using: &random)
                for part in [bytes[..<cut], bytes[cut...]] where !part.isEmpty {
                    _ = part.withUnsafeBytes { send(other, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                    await Task.yield()
                }
                shutdown(other, Int32(SHUT_WR))
                try await eventually { isEnded }
                _ = try await pair.call("Effect")
            }
        }
    }
}
