// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import TestSupport
import Testing

@Suite("Descriptors over a bus", .timeLimit(.minutes(1)))
struct DescriptorTests {
    @Test("a descriptor is handed over in a call, and closed by whoever got it")
    func call() async throws {
        try await onLoop {
            let pair = try await Pair()
            let sockets = try FileDescriptor.socketPair()
            let file = try #require(OpenFile(sockets.theirs.number))
            for _ in 0..<20 {
                let message = try Message.call(
                    to: pair.server.uniqueName, "/org/example/log", "org.example.CallLog", "Take")
                var writer = MessageWriter(message)
                try writer.write(sockets.theirs)
                _ = try await pair.client.connection.call(message)
                #expect(readByte(from: sockets.ours.number) == UInt8(ascii: "x"))
            }
            try await eventually { file.count == 1 }
        }
    }

    @Test("a descriptor is handed over in a reply, and nobody else keeps it")
    func reply() async throws {
        try await onLoop {
            let pair = try await Pair()
            for _ in 0..<20 {
                let reply = try await pair.call("Give", output: "h")
                var reader = MessageReader(reply)
                let descriptor = try reader.readFileDescriptor()
                #expect(fcntl(descriptor.number, F_GETFD) == FD_CLOEXEC)
                #expect(readByte(from: descriptor.number) == UInt8(ascii: "x"))
                // The other end was closed together with the handler's value.
                #expect(readByte(from: descriptor.number) == nil)
            }
            let file = try #require(pair.log.given)
            try await eventually { file.count == 0 }
        }
    }

    @Test("descriptors that nobody asked for are closed", arguments: ["Note", "Effect", "Missing", "Take"])
    func unexpected(_ member: String) async throws {
        try await onLoop {
            let pair = try await Pair()
            let sockets = try FileDescriptor.socketPair()
            let file = try #require(OpenFile(sockets.theirs.number))
            for _ in 0..<20 {
                let message = try Message.call(
                    to: pair.server.uniqueName, "/org/example/log", "org.example.CallLog", MemberName(member))
                var writer = MessageWriter(message)
                for _ in 0..<3 { try writer.write(sockets.theirs) }
                let error = await pair.error { _ = try await pair.client.connection.call(message) }
                #expect(error == (member == "Missing" ? .unknownMethod : .invalidArgs))
            }
            try await eventually { file.count == 1 }
        }
    }

    @Test(
        "what is named twice, or in a body that is longer than any with descriptors has to be, is closed too")
    func odd() async throws {
        try await onLoop {
            let pair = try await Pair()
            let sockets = try FileDescriptor.socketPair()
            let file = try #require(OpenFile(sockets.theirs.number))
            for length in [10, 5000] {
                let message = try Message.call(
                    to: pair.server.uniqueName, "/org/example/log", "org.example.CallLog", "Take")
                var writer = MessageWriter(message)
                try writer.write(String(repeating: "x", count: length))
                for _ in 0..<3 { try writer.write(sockets.theirs) }
                #expect(
                    await pair.error { _ = try await pair.client.connection.call(message) } == .invalidArgs)
            }
            try await eventually { file.count == 1 }
        }
    }

    @Test("a descriptor within a variant is refused and closed")
    func inVariant() async throws {
        try await onLoop {
            let pair = try await Pair()
            let sockets = try FileDescriptor.socketPair()
            let file = try #require(OpenFile(sockets.theirs.number))
            let message = try Message.call(
                to: pair.server.uniqueName, "/org/example/deep/settings", .properties, "Set")
            var writer = MessageWriter(message)
            try writer.write("org.example.Settings")
            try writer.write("Title")
            let number = sockets.theirs.number
            try writer.variant("h") { (writer) throws(DBusError) in
                try writer.write(FileDescriptor(owning: dup(number)))
            }
            #expect(await pair.error { _ = try await pair.client.connection.call(message) } == .invalidArgs)
            #expect(pair.settings.title == "first")
            withExtendedLifetime(message) {}
            try await eventually { file.count <= 2 }
        }
    }

    @Test("a descriptor closes with its value, unless it is given away")
    func ownership() throws {
        let sockets = try FileDescriptor.socketPair()
        let file = try #require(OpenFile(sockets.ours.number))
        #expect(file.count == 1)
        let copy = FileDescriptor(owning: dup(sockets.ours.number))
        #expect(file.count == 2)
        let number = copy.take()
        #expect(file.count == 2)
        do { _ = FileDescriptor(owning: number) }
        #expect(file.count == 1)
    }
}
