// SPDX-License-Identifier: LGPL-2.1-or-later
import MainLoop
import TestSupport
import Testing

@testable import DBus

/// A socket by which no descriptors can be sent while too many are on their way.
@MainLoop
private final class FullSocket: Transport {
    var refuses = true
    var isBlocked = false
    private let socket: SocketTransport

    init(_ end: consuming FileDescriptor) { socket = SocketTransport(end, takesDescriptors: true) }

    var isDrainedByShortRead: Bool { socket.isDrainedByShortRead }
    var takesDescriptors: Bool { socket.takesDescriptors }
    var pieceSize: Int { socket.pieceSize }

    func read(into buffer: UnsafeMutableRawBufferPointer, _ descriptors: inout [Int32]) -> Transfer {
        socket.read(into: buffer, &descriptors)
    }
    func write(_ bytes: UnsafeRawBufferPointer, _ descriptors: [Int32]) -> Transfer {
        if isBlocked { return .wouldBlock }
        if refuses, !descriptors.isEmpty { return .failed("Too many references") }
        return socket.write(bytes, descriptors)
    }
    func whenReadable(_ body: @escaping @MainLoop () -> Void) -> AnyObject { socket.whenReadable(body) }
    func whenWritable(_ body: @escaping @MainLoop () -> Void) -> AnyObject { socket.whenWritable(body) }
    func awaitRoom(until deadline: Int64) { socket.awaitRoom(until: deadline) }
    func endInput() { socket.endInput() }
    func close() { socket.close() }
    func finish() { socket.finish() }
}

/// One end of a channel, whose other end is one caller.
@MainLoop
private final class End: Directory {
    let socket: FullSocket
    let connection: Connection
    private let end: BusEnd
    private let line = CallLine(Caller(label: "the other"))
    private let allowAll = AllowAll()

    init(_ descriptor: consuming FileDescriptor) {
        socket = FullSocket(descriptor)
        end = BusEnd(SocketChannel(socket, BusEnd.limits))
        connection = Connection(end)
        end.connection = connection
        connection.directory = self
        connection.policy = allowAll
    }

    func line(of sender: BusName?) -> CallLine? { line }
    func knownLine(of sender: BusName?) -> CallLine? { line }
}

@Suite("Descriptors that cannot be sent", .timeLimit(.minutes(1)))
struct RefusedDescriptorTests {
    @MainLoop
    private final class Ends {
        let client: End
        let server: End
        let log = CallLog()

        init() throws {
            let pair = try FileDescriptor.socketPair()
            (client, server) = (End(pair.ours), End(pair.theirs))
            server.connection.objects.export("/", [log])
        }

        func call(_ member: MemberName, _ arguments: (inout MessageWriter) throws -> Void = { _ in })
            async throws -> Message
        {
            let message = try Message.call(to: nil, "/", "org.example.CallLog", member)
            var writer = MessageWriter(message)
            try arguments(&writer)
            return try await client.connection.call(message)
        }

        func note(_ number: UInt32) async throws { _ = try await call("Note") { try $0.write(number) } }
    }

    @Test("they cost the call that they are for, which fails and says why, and nothing else")
    func call() async throws {
        try await onLoop {
            let ends = try Ends()
            let sockets = try FileDescriptor.socketPair()
            let file = try #require(OpenFile(sockets.theirs.number))
            for isBlocked in [false, true] {
                ends.client.socket.isBlocked = isBlocked
                let before = MainLoop.start { try await ends.note(1) }
                let refused = MainLoop.start {
                    _ = try await ends.call("Take") { try $0.write(sockets.theirs) }
                }
                let after = MainLoop.start { try await ends.note(2) }
                // All three wait behind each other, or are written at once.
                MainLoop.start { ends.client.socket.isBlocked = false }
                let error = await #expect(throws: DBusError.self) { try await refused.value }
                #expect(error?.name == .limitsExceeded)
                #expect(error?.message.contains("Too many references") == true)
                try await before.value
                try await after.value
            }
            #expect(ends.log.numbers == [1, 2, 1, 2] && file.count == 1)
            ends.client.socket.refuses = false
            _ = try await ends.call("Take") { try $0.write(sockets.theirs) }
            #expect(readByte(from: sockets.ours.number) == UInt8(ascii: "x"))
        }
    }

    @Test("whoever is to be answered with them is told that in place of the answer")
    func answer() async throws {
        try await onLoop {
            let ends = try Ends()
            let error = await #expect(throws: DBusError.self) { _ = try await ends.call("Give") }
            #expect(error?.name == .limitsExceeded && ends.log.given?.count == 0)
            ends.server.socket.refuses = false
            #expect(try await ends.call("Give").containsFileDescriptors)
        }
    }
}
