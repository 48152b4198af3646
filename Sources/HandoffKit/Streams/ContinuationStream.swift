// SPDX-License-Identifier: LGPL-2.1-or-later
public import FoundationEssentials

/// A stream of bytes in both directions between the two applications of a continuation.
///
/// Each direction ends on its own. Whoever has nothing more to say calls ``finish(isolation:)``, which waits for the other side
/// to have finished too. A stream that breaks is an error on both sides, never an end: what was read up to an end is
/// everything that the other side has written.
///
/// It is closed when nobody holds it any more, which the other side reads as an end.
public final class ContinuationStream: Sendable {
    let socket: StreamSocketEnd
    private let incoming: IncomingBytes
    private let outgoing: OutgoingBytes
    /// What has to live as long as this.
    private let lease: (any Sendable)?

    /// The largest piece that ``bytes`` gives at a time.
    public static let largestChunk = 256 << 10

    /// A stream of a connected socket, which is closed with it.
    package init(owning descriptor: CInt, lease: (any Sendable)? = nil) {
        socket = StreamSocketEnd(owning: descriptor)
        incoming = IncomingBytes(socket)
        outgoing = OutgoingBytes(socket)
        self.lease = lease
    }

    deinit { cancel() }

    /// What the other side has written, in pieces as they come. It ends when the other side has finished, and throws
    /// a ``HandoffError`` if the stream breaks before.
    ///
    /// There is one sequence of bytes, whoever reads it: what one loop has read no other one gets. A cancelled task
    /// reads nothing more, and nothing is lost to the next who reads.
    public var bytes: Bytes { Bytes(stream: self) }

    /// Sends `data`, and returns once all of it is on its way. Who writes faster than the other side reads has to wait.
    ///
    /// Several calls at a time are done one after the other. A task that is cancelled waits no more, but `data` goes on
    /// its way all the same: the other side never gets a part of it alone. To take it back, ``cancel()`` the stream.
    /// - Parameter actor: the one that the caller is on, where it goes on.
    public func write(
        _ data: Data, isolation actor: isolated (any Actor)? = #isolation
    ) async throws(HandoffError) {
        try await outgoing.write(data, isolation: actor)
    }

    /// Nothing more is sent: the other side reads an end after what was written. What it sends can still be read.
    /// - Parameter actor: the one that the caller is on, where it goes on.
    public func finishWriting(
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws(HandoffError) {
        try await outgoing.finish(isolation: actor)
    }

    /// Nothing more is sent; returns once the other side has finished too, and so has read everything or given up in
    /// order.
    ///
    /// If somebody reads ``bytes``, this waits until they have come to the end. What nobody reads is thrown away: to read
    /// an answer call ``finishWriting(isolation:)`` first, then read, then this.
    /// - Parameter actor: the one that the caller is on, where it goes on.
    public func finish(isolation actor: isolated (any Actor)? = #isolation) async throws(HandoffError) {
        try await outgoing.finish(isolation: actor)
        do {
            try await incoming.waitForEnd(isolation: actor)
        } catch {
            throw HandoffError(error)
        }
    }

    /// Ends the stream at once. Who reads or writes it, here and there, is told.
    public func cancel() {
        incoming.cancel()
        outgoing.cancel()
        socket.shutDown()
    }

    /// Gives the socket away: the caller has to close it, and nothing else works any more.
    ///
    /// What is read from it is what the other side has written; the end of the file is the end of that, `ECONNRESET`
    /// says that the stream broke. `shutdown(SHUT_WR)` ends the other direction.
    /// - Throws: ``HandoffError/Code/notSupported`` if anything was read or written before.
    public func takeDescriptor() throws(HandoffError) -> CInt {
        guard let descriptor = socket.take() else {
            throw HandoffError(
                .notSupported,
                "The stream is in use already, or its socket was given away. Take the socket first.")
        }
        return descriptor
    }

    /// The bytes of a ``ContinuationStream``, in pieces.
    public struct Bytes: AsyncSequence, Sendable {
        /// A piece, which is never empty.
        public typealias Element = Data

        let stream: ContinuationStream

        /// Reads from where the last reader has stopped.
        public func makeAsyncIterator() -> Iterator {
            Iterator(stream: stream, loop: IncomingBytes.Loop(stream.incoming))
        }

        /// Reads piece by piece.
        public struct Iterator: AsyncIteratorProtocol {
            let stream: ContinuationStream
            let loop: IncomingBytes.Loop

            /// The next piece; nil at the end.
            /// - Throws: ``HandoffError``, if the stream broke or the task was cancelled.
            public mutating func next() async throws -> Data? {
                try await stream.incoming.next(isolation: nil)
            }

            /// The next piece, on the actor of the caller; nil at the end.
            /// - Throws: ``HandoffError``, if the stream broke or the task was cancelled.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
                try await stream.incoming.next(isolation: actor)
            }
        }
    }
}
