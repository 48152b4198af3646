// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import HandoffCore
import HandoffInterfaces
import MainLoop
import Platform
import Synchronization
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("Sending a document")
struct DocumentSenderTests {
    private static let size = 4 << 20

    /// A document of 4 MiB.
    private func document() throws -> SourceDocument {
        let path = "/tmp/handoff-document-\(RandomBytes.make(8).map { String($0) }.joined())"
        defer { unlink(path) }
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        #expect(ftruncate(file, Self.size) == 0)
        close(file)
        return try SourceDocument(
            "file://\(path)", of: Caller(name: ":1.1", credentials: nil, sandbox: nil),
            now: MainLoop.wallClock)
    }

    @Test("whoever has everything may say so a moment after it is done with it")
    func lateAcknowledgement() async throws {
        try await onLoop {
            let pair = try StreamSocket.makeDocumentPair()
            let (outcome, read) = (Awaited<DocumentSender.Outcome>(), Awaited<Void>())
            let sending = try DocumentSending(try document(), through: pair.theirs) { outcome.come($0) }
            let end = FakeBridge(pair.ours)
            try BackgroundThread.start("bridge") {
                var buffer = [UInt8](repeating: 0, count: 128 << 10)
                while recv(end.number, &buffer, buffer.count, 0) > 0 {}
                MainLoop.start { read.come(()) }
            }
            _ = await read.value(within: nil)
            sending.stop("its continuation has ended")
            shutdown(end.number, Int32(SHUT_WR))
            guard case .acknowledged? = await outcome.value(within: nil) else {
                Issue.record("It was broken.")
                return
            }
        }
    }

    /// Sends a document of 4 MiB with this period, while `take` has the other end.
    private func outcome(
        period: Duration, _ take: @escaping @Sendable (Int32) -> Void
    ) throws -> DocumentSender.Outcome {
        let document = try document()
        let pair = try StreamSocket.makeDocumentPair()
        let signal = try #require(StopSignal())
        let sender = DocumentSender(document, through: pair.theirs, unless: signal, period: period)
        let end = FakeBridge(pair.ours)
        try BackgroundThread.start("bridge") { take(end.number) }
        let outcome = sender.run()
        end.stop()
        return outcome
    }

    @Test("a receiver that takes a little at a time is given up when the time for more is over")
    func drips() throws {
        let begin = MainLoop.now
        let outcome = try outcome(period: .milliseconds(300)) { socket in
            var buffer = [UInt8](repeating: 0, count: 2048)
            // Room is there only once much has been taken, so this is slow but not too slow for that.
            while recv(socket, &buffer, buffer.count, 0) > 0 { usleep(20_000) }
        }
        guard case .failed(let reason) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reason.contains("too slowly"))
        #expect(MainLoop.now - begin < 20_000_000)
    }

    @Test("a receiver that pauses, but takes enough in each period, gets everything")
    func pauses() throws {
        let outcome = try outcome(period: .seconds(2)) { socket in
            var (buffer, count) = ([UInt8](repeating: 0, count: 128 << 10), 0)
            // One byte is there from the beginning, and the digest is at the end.
            while count < Self.size + 33 {
                let taken = recv(socket, &buffer, buffer.count, 0)
                guard taken > 0 else { return }
                count += taken
                usleep(50_000)
            }
            shutdown(socket, Int32(SHUT_WR))
        }
        if case .failed(let why) = outcome { Issue.record("\(why)") }
    }
}

/// The end that the bridge has.
private final class FakeBridge: Sendable {
    private let descriptor: FileDescriptor
    var number: Int32 { descriptor.number }

    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    func stop() { shutdown(number, Int32(SHUT_RDWR)) }
}
