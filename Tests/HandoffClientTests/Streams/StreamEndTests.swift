// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@Suite("The end of a stream", .serialized)
struct StreamEndTests {
    /// Two ends of one stream.
    @MainLoop
    private static func pair() throws -> (StreamEnd, StreamEnd) {
        ends(try FileDescriptor.socketPair())
    }

    @MainLoop
    private static func ends(_ pair: consuming SocketPair) -> (StreamEnd, StreamEnd) {
        (StreamEnd(pair.ours), StreamEnd(pair.theirs))
    }

    @Test("bytes arrive complete and in order, however slowly they are read, and then comes the end")
    func transfer() async throws {
        // Made here: while the loop makes them, other tests do not hear from one another.
        let bytes = (0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try await onLoop {
            let (one, other) = try Self.pair()
            let sending = MainLoop.start {
                try await one.write(bytes)
                try await one.finish()
            }
            var received: [UInt8] = []
            while true {
                let piece = try await other.read(upTo: 10_000)
                if piece.isEmpty { break }
                received += piece
            }
            #expect(received == bytes)
            try await other.finish()
            try await sending.value
        }
    }

    @Test("each direction ends on its own: what comes after one's own end can still be read")
    func halfClose() async throws {
        try await onLoop {
            let (one, other) = try Self.pair()
            try await one.write([1, 2, 3])
            let finishing = MainLoop.start { try await one.finish() }
            #expect(try await other.read() == [1, 2, 3])
            #expect(try await other.read() == [])
            try await other.write([4])
            try await other.finish()
            try await finishing.value
            #expect(try await one.read() == [4])
            #expect(try await one.read() == [])
        }
    }

    @Test(
        "an end that the other application has not made is an error, to the reader and to who waits for the end"
    )
    func broken() async throws {
        for isFinishing in [false, true] {
            try await onLoop {
                let pair = try StreamSocket.makePair()
                let (ours, theirs) = Self.ends(pair)
                let waiting = MainLoop.start {
                    if isFinishing { try await theirs.finish() } else { _ = try await theirs.read() }
                }
                // The byte that is queued from the beginning makes this a break.
                MainLoop.start { ours.close() }
                await #expect(throws: StreamFailure.broken) { try await waiting.value }
                await #expect(throws: StreamFailure.broken) { _ = try await theirs.read() }
            }
        }
    }

    @Test("who writes to an end that is closed is told")
    func refused() async throws {
        try await onLoop {
            let (one, other) = try Self.pair()
            other.close()
            await #expect(throws: StreamFailure.refused) { try await one.write([1]) }
        }
    }

    @Test("a wait ends when it is cancelled, when the end is closed, and when the descriptor is given away")
    func waits() async throws {
        try await onLoop {
            let (one, other) = try Self.pair()
            let cancelled = MainLoop.start { _ = try await one.read() }
            let closed = MainLoop.start { _ = try await other.read() }
            await Task.yield()
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            let full = MainLoop.start { try await one.write([UInt8](repeating: 0, count: 10_000_000)) }
            await Task.yield()
            let descriptor = try one.take()
            await #expect(throws: StreamFailure.closed) { try await full.value }
            #expect(descriptor.number >= 0)
            other.close()
            _ = try? await closed.value
            await #expect(throws: StreamFailure.closed) { _ = try await other.read() }
        }
    }
}
