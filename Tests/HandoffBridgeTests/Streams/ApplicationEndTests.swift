// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import HandoffInterfaces
import Platform
import TestSupport
import Testing

@testable import HandoffBridge

@Suite("The bridge's end of a stream")
struct ApplicationEndTests {
    private let end: ApplicationEnd
    /// The application's end, owned by this test.
    private let application: Int32

    init() throws {
        let pair = try StreamSocket.makePair()
        application = pair.theirs.take()
        end = ApplicationEnd(owning: pair.ours)
    }

    /// What the bridge reads next.
    private func read() throws -> [UInt8] { try read(from: end) }

    private func read(from end: ApplicationEnd) throws -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
        defer { buffer.deallocate() }
        let data = UnsafeMutableRawBufferPointer(rebasing: buffer[1...])
        return Array(data[..<(try end.read(data))])
    }

    private func write(_ bytes: [UInt8]) { #expect(send(application, bytes, bytes.count, 0) == bytes.count) }

    @Test("what the application writes is read, whichever way it is cut", arguments: 1...20)
    func reading(seed: UInt64) throws {
        defer { close(application) }
        var generator = Seeded(seed)
        var (written, taken) = ([UInt8](), [UInt8]())
        for _ in 0..<200 {
            if written.count == taken.count || Bool.random(using: &generator) {
                let size = [1, 2, 3, 100, 4095, 4096, 5000].randomElement(using: &generator) ?? 1
                let bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
                write(bytes)
                written += bytes
            }
            taken += try read()
            while taken.count + 20_000 < written.count { taken += try read() }
        }
        while taken.count < written.count { taken += try read() }
        #expect(taken == written)
        shutdown(application, Int32(SHUT_WR))
        #expect(try read() == [])
    }

    @Test(
        "closed without more ado, whatever was read, the application reads ECONNRESET behind what it was written"
    )
    func breaking() throws {
        defer { close(application) }
        let stop = try #require(StopSignal())
        do {
            // This is the only reference to the end, which is freed when this block ends.
            let pair = try StreamSocket.makePair()
            let other = pair.theirs.take()
            defer { close(other) }
            var end: ApplicationEnd? = ApplicationEnd(owning: pair.ours)
            #expect(end?.isClosedThere == false)
            [1, 2, 3].withUnsafeBytes { #expect((try? end?.write($0, unless: stop)) == .done) }
            end = nil
            var buffer = [UInt8](repeating: 0, count: 100)
            #expect(recv(other, &buffer, 100, Int32(MSG_DONTWAIT)) == 24)
            #expect(recv(other, &buffer, 100, Int32(MSG_DONTWAIT)) == -1 && errno == ECONNRESET)
        }
    }

    @Test("closed in order, the application reads an end of file, though it has written what nobody has read")
    func settling() throws {
        let pair = try StreamSocket.makePair()
        let other = pair.theirs.take()
        defer {
            close(other)
            close(application)
        }
        var end: ApplicationEnd? = ApplicationEnd(owning: pair.ours)
        let bytes = [UInt8](repeating: 1, count: 100_000)
        #expect(send(other, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0)
        end?.settle()
        end = nil
        var buffer = [UInt8](repeating: 0, count: 100)
        #expect(recv(other, &buffer, 100, Int32(MSG_DONTWAIT)) == 0)
        #expect(send(other, bytes, 1, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) == -1 && errno == EPIPE)
    }

    @Test("an application that has closed its end is noticed, also when it has left something unread")
    func closing() throws {
        let stop = try #require(StopSignal())
        [7].withUnsafeBytes { #expect((try? end.write($0, unless: stop)) == .done) }
        write([1, 2, 3])
        #expect(!end.isClosedThere)
        close(application)
        #expect(end.isClosedThere && end.waitUntilClosed(unless: stop))
        #expect(try read() == [1, 2, 3])
        #expect(try read() == [])
        [7].withUnsafeBytes { #expect((try? end.write($0, unless: stop)) == .refused) }
    }

    @Test("a writer that waits for the application stops when it is told to")
    func stopping() throws {
        defer { close(application) }
        let stop = try #require(StopSignal())
        let much = [UInt8](repeating: 0, count: 4 << 20)
        stop.send()
        much.withUnsafeBytes { #expect((try? end.write($0, unless: stop)) == .stopped) }
        #expect(!end.waitUntilClosed(unless: stop))
    }

    @Test(
        "a broker that goes while a document comes has not acknowledged it, though a writer was told of it first"
    )
    func goneWhileItComes() throws {
        let pair = try StreamSocket.makePair()
        let (end, broker) = (ApplicationEnd(owning: pair.ours, heldBy: .documentReceiver), pair.theirs.take())
        let stop = try #require(StopSignal())
        [7].withUnsafeBytes { #expect((try? end.write($0, unless: stop)) == .done) }
        close(broker)
        // What a writer that is in the middle of a call does: it takes the one error that there is.
        var (error, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        #expect(getsockopt(end.descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == ECONNRESET)
        #expect(throws: StreamFault.self) { try read(from: end) }
        [7].withUnsafeBytes { bytes in
            _ = #expect(throws: StreamFault.self) { try end.write(bytes, unless: stop) }
        }
    }

    @Test("a broker acknowledges a document by ending its direction, but only after the document's end")
    func acknowledging() throws {
        let pair = try StreamSocket.makePair()
        let (end, broker) = (ApplicationEnd(owning: pair.ours, heldBy: .documentReceiver), pair.theirs.take())
        defer { close(broker) }
        shutdown(broker, Int32(SHUT_WR))
        #expect(throws: StreamFault.self) { try read(from: end) }
        end.endWriting()
        #expect(try read(from: end) == [])
    }

    @Test("nothing is written to a broker that sends a document, so that its death is always seen")
    func nothingForTheSender() throws {
        let pair = try StreamSocket.makeDocumentPair()
        let (end, broker) = (ApplicationEnd(owning: pair.ours, heldBy: .documentSender), pair.theirs.take())
        let stop = try #require(StopSignal())
        [7].withUnsafeBytes { bytes in
            _ = #expect(throws: StreamFault.self) { try end.write(bytes, unless: stop) }
        }
        close(broker)
        #expect(throws: StreamFault.self) { try read(from: end) }
    }
}
