// SPDX-License-Identifier: LGPL-2.1-or-later
import Synchronization
import TestSupport
import Testing

@testable import Platform

@Suite("SHA-256 of what is large")
struct SHA256Tests {
    private static let library = GnuTLSHash.loaded

    private func digest(_ pieces: [[UInt8]], byGLib: Bool) -> [UInt8]? {
        let sha256 = SHA256(byGLib ? nil : Self.library)
        for piece in pieces { piece.withUnsafeBytes { sha256.update($0) } }
        return sha256.finish()
    }

    @Test("GnuTLS is there")
    func library() { #expect(Self.library != nil) }

    @Test(
        "it is that of the bytes, however they are cut, whoever computes it", arguments: 1...10,
        [false, true])
    func pieces(seed: UInt64, byGLib: Bool) {
        var generator = Seeded(seed)
        let pieces = (0..<Int.random(in: 0...20, using: &generator)).map { _ in
            (0..<Int.random(in: 0...5000, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
        }
        #expect(digest(pieces, byGLib: byGLib) == Digest.sha256(pieces.joined()))
    }

    @Test("that of nothing is the standard's, and there is only one", arguments: [false, true])
    func nothing(byGLib: Bool) {
        let sha256 = SHA256(byGLib ? nil : Self.library)
        sha256.update(UnsafeRawBufferPointer(start: nil, count: 0))
        #expect(sha256.finish() == Digest.sha256([]))
        sha256.update(UnsafeRawBufferPointer(start: nil, count: 0))
        #expect(sha256.finish() == [])
    }

    @Test("it can be computed on a thread of its own")
    func thread() async throws {
        let result = Mutex<[UInt8]?>(nil)
        try BackgroundThread.start("digest") {
            let sha256 = SHA256()
            Array("abc".utf8).withUnsafeBytes { sha256.update($0) }
            result.withLock { $0 = sha256.finish() }
        }
        try await eventually { result.withLock { $0 } == Digest.sha256("abc".utf8) }
    }
}
