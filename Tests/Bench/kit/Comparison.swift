// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import FoundationEssentials
import Glibc
import HandoffInterfaces
import HandoffKit
import Platform

/// Streams of the kit, and bare sockets of the same kind in turn with them: the machine's speed changes while it is
/// measured, and both change with it.
struct Comparison {
    /// How many bytes go through at a time.
    let size: Int

    private static let piece = 256 << 10

    /// The medians of so many blocks, as they are written.
    func figures(blocks: Int) async throws -> String {
        var (kit, raw): ([Double], [Double]) = ([], [])
        // The first block warms both up.
        for block in 0...blocks {
            // Each goes first in every other block.
            for isRaw in block % 2 == 0 ? [true, false] : [false, true] {
                let rate = try await isRaw ? rateOfSocket() : rateOfStream()
                if block > 0 { isRaw ? raw.append(rate) : kit.append(rate) }
            }
        }
        let ratio = Self.median(zip(kit, raw).map { $0 / $1 })
        return
            "kit \(Self.rounded(ratio)) \(Self.rounded(Self.median(kit))) \(Self.rounded(Self.median(raw)))"
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[(values.count - 1) / 2] }

    private static func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }

    /// In MB a second.
    private func rate(_ body: () async throws -> Int) async throws -> Double {
        let clock = ContinuousClock()
        var count = 0
        let time = try await clock.measure { count = try await body() }
        guard count == size else { throw Failure("\(count) of \(size) bytes have come") }
        return Double(size) / 1e6 / (time / .seconds(1))
    }

    /// Two connected ends, as the applications of a stream have them.
    private func ends() throws -> (CInt, CInt) {
        let pair = try StreamSocket.makePair()
        var byte: UInt8 = 0
        let ends = (dup(pair.ours.number), dup(pair.theirs.number))
        guard recv(ends.0, &byte, 1, 0) == 1, ends.1 >= 0 else { throw Failure("there is no socket") }
        return ends
    }

    // MARK: The socket

    private func rateOfSocket() async throws -> Double {
        let (near, far) = try ends()
        return try await rate {
            // Both block, and the threads of tasks are few.
            try BackgroundThread.start("writing") { Self.fill(near, size) }
            return Self.drain(far)
        }
    }

    private static func fill(_ end: CInt, _ size: Int) {
        let bytes = [UInt8](repeating: 7, count: piece)
        var left = size
        while left > 0 {
            let count = send(end, bytes, min(left, piece), Int32(MSG_NOSIGNAL))
            guard count > 0 else { break }
            left -= count
        }
        close(end)
    }

    private static func drain(_ end: CInt) -> Int {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 16)
        defer { buffer.deallocate() }
        var sum = 0
        while true {
            let count = recv(end, buffer.baseAddress, buffer.count, 0)
            guard count > 0 else { break }
            sum += count
        }
        close(end)
        return sum
    }

    // MARK: The kit

    private func rateOfStream() async throws -> Double {
        let (near, far) = try ends()
        let (writer, reader) = (ContinuationStream(owning: near), ContinuationStream(owning: far))
        return try await rate {
            async let writing: Void = fill(writer)
            async let reading = drain(reader)
            try await writing
            return try await reading
        }
    }

    @concurrent private func fill(_ stream: ContinuationStream) async throws {
        let data = Data(repeating: 7, count: Self.piece)
        for place in stride(from: 0, to: size, by: Self.piece) {
            try await stream.write(data.prefix(size - place))
        }
        try await stream.finishWriting()
    }

    @concurrent private func drain(_ stream: ContinuationStream) async throws -> Int {
        var sum = 0
        for try await chunk in stream.bytes { sum += chunk.count }
        return sum
    }
}

/// What prevents the measurement.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
