// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import HandoffCore
import HandoffInterfaces
import TestSupport
import Testing

@Suite("What is the end of a stream")
struct StreamSocketTests {
    private static func check(_ descriptor: borrowing FileDescriptor) throws(HandoffFailure) {
        try StreamSocket.check(descriptor, or: .invalidArguments, remedy: "Send another.")
    }

    /// An end whose other end is closed.
    private static func leftAlone() throws -> FileDescriptor {
        let pair = try StreamSocket.makePair()
        close(pair.ours.take())
        return pair.theirs
    }

    @Test("an end is one also if the other side has ended, or is gone, or both")
    func ends() throws {
        let pair = try StreamSocket.makePair()
        try Self.check(pair.ours)
        try Self.check(pair.theirs)
        shutdown(pair.theirs.number, Int32(SHUT_RDWR))
        try Self.check(pair.ours)
        try Self.check(pair.theirs)
        try Self.check(Self.leftAlone())
    }

    @Test(
        "anything else is refused with what it is, why it cannot be one, and what to do",
        arguments: OddStream.allCases)
    func odd(_ kind: OddStream) throws {
        var others: [Int32] = []
        defer { for other in others { close(other) } }
        let descriptor = try kind.make(keeping: &others)
        var refusal: HandoffFailure?
        do throws(HandoffFailure) { try Self.check(descriptor) } catch { refusal = error }
        let message = try #require(refusal).message
        #expect(refusal?.code == .invalidArguments)
        #expect(message.hasPrefix("What came as a stream is \(kind.description)"))
        #expect(message.contains("tell an end from a break") && message.hasSuffix("Send another."))
    }
}
