// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import FoundationEssentials
import Glibc
import HandoffInterfaces
import HandoffKit
import Testing

@Suite("What is said of a stream that stops")
struct StreamErrorTests {
    /// What `body` throws, as it is said to people.
    private static func message(_ body: () async throws -> Void) async throws -> String {
        let error = try await #require(throws: HandoffError.self) { try await body() }
        #expect(error.code == .connectionUnavailable)
        return error.message
    }

    /// Whether it says what, why, and what to do, in two sentences.
    private static func expectWhole(_ message: String, _ what: String, _ why: String) {
        #expect(message.hasPrefix("Nothing more can be \(what) the stream, because "))
        #expect(message.contains(why))
        #expect(message.hasSuffix(". Continue the activity again to get a new stream."))
    }

    private static func ends(_ pair: consuming SocketPair) -> (ours: CInt, theirs: ContinuationStream) {
        (pair.ours.take(), ContinuationStream(owning: pair.theirs.take()))
    }

    @Test("reading what was cut says so, and how to get the rest")
    func cut() async throws {
        // The byte that is queued from the beginning makes this a break.
        let (ours, stream) = Self.ends(try StreamSocket.makePair())
        close(ours)
        let message = try await Self.message { for try await _ in stream.bytes {} }
        Self.expectWhole(message, "read from", "cut before its end")
    }

    @Test("writing to who reads no more says so, and what to do")
    func unread() async throws {
        let (ours, stream) = Self.ends(try FileDescriptor.socketPair())
        defer { close(ours) }
        shutdown(ours, Int32(SHUT_RD))
        let message = try await Self.message { try await stream.write(Data([1])) }
        Self.expectWhole(message, "written to", "reads no more")
    }

    @Test("an error of the system is quoted in a sentence, in both directions")
    func system() async throws {
        for isReading in [true, false] {
            let stream = ContinuationStream(owning: open("/dev/null", O_RDWR | O_CLOEXEC))
            let message = try await Self.message {
                if isReading { for try await _ in stream.bytes {} } else { try await stream.write(Data([1])) }
            }
            Self.expectWhole(
                message, isReading ? "read from" : "written to", "“Socket operation on non-socket”")
        }
    }

    @Test("a stream that was ended here says that it was this application")
    func ended() async throws {
        let (ours, stream) = Self.ends(try FileDescriptor.socketPair())
        defer { close(ours) }
        stream.cancel()
        let writing = try await Self.message { try await stream.write(Data([1])) }
        Self.expectWhole(writing, "written to", "this application has ended it")
        let reading = try await Self.message { for try await _ in stream.bytes {} }
        Self.expectWhole(reading, "read from", "this application has ended it")
    }
}
