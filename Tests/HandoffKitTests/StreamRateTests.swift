// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import FoundationEssentials
import Glibc
import HandoffInterfaces
import HandoffKit
import Testing

/// How much goes through a stream of the kit in a second, beside what goes through its socket. It is measured only by
/// `HANDOFF_BENCH=1 swift test --filter StreamRateTests`: where other things run too it says nothing.
@Suite("The rate of streams", .serialized, .enabled(if: getenv("HANDOFF_BENCH") != nil))
struct StreamRateTests {
    static let total = 2 << 30
    static let block = 256 << 10

    @Test("a stream through the kit moves at least 0.8 times what the raw socket does")
    func rate() async throws {
        var (kit, raw) = (0.0, 0.0)
        for _ in 0..<5 {
            raw = max(raw, try await Self.raw())
            kit = max(kit, try await Self.kit())
        }
        let ratio = kit / raw
        print("Streams: the kit moves \(Int(kit)) MB/s, the raw socket \(Int(raw)) MB/s: \(ratio)")
        #expect(ratio >= 0.8)
    }

    /// MB a second.
    private static func rate(_ body: () async throws -> Void) async rethrows -> Double {
        let clock = ContinuousClock()
        let time = try await clock.measure { try await body() }
        return Double(total) / 1_000_000 / (time / .seconds(1))
    }

    private static func ends() throws -> (CInt, CInt) {
        let pair = try StreamSocket.makePair()
        var byte: UInt8 = 0
        #expect(Glibc.read(pair.ours.number, &byte, 1) == 1)
        return (Glibc.dup(pair.ours.number), dup(pair.theirs.number))
    }

    private static func raw() async throws -> Double {
        let (near, far) = try ends()
        return await rate {
            async let writing: Void = write(near)
            async let reading: Void = read(far)
            _ = await (writing, reading)
        }
    }

    @concurrent private static func write(_ end: CInt) async {
        let buffer = [UInt8](repeating: 7, count: block)
        var left = total
        while left > 0 {
            let count = send(end, buffer, min(left, block), Int32(MSG_NOSIGNAL))
            guard count > 0 else { break }
            left -= count
        }
        close(end)
    }

    @concurrent private static func read(_ end: CInt) async {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: block, alignment: 16)
        defer { buffer.deallocate() }
        while recv(end, buffer.baseAddress, buffer.count, 0) > 0 {}
        close(end)
    }

    private static func kit() async throws -> Double {
        let (near, far) = try ends()
        let (writer, reader) = (ContinuationStream(owning: near), ContinuationStream(owning: far))
        return try await rate {
            async let writing: Void = write(writer)
            async let reading = read(reader)
            _ = try await writing
            #expect(try await reading == total)
        }
    }

    @concurrent private static func write(_ stream: ContinuationStream) async throws {
        let data = Data(repeating: 7, count: block)
        for _ in 0..<total / block { try await stream.write(data) }
        try await stream.finishWriting()
    }

    @concurrent private static func read(_ stream: ContinuationStream) async throws -> Int {
        var count = 0
        for try await chunk in stream.bytes { count += chunk.count }
        return count
    }
}
