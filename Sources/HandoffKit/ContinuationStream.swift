// SPDX-License-Identifier: LGPL-2.1-or-later
public import FoundationEssentials

/// A stream of bytes in both directions between the two applications of a continuation.
public final class ContinuationStream: Sendable {
    package init() {}

    /// What the other side has written, in pieces as they come; it ends when the other side has finished.
    public var bytes: AsyncThrowingStream<Data, any Error> { AsyncThrowingStream { $0.finish() } }
    /// Sends `data`, and returns once all of it is on its way.
    public func write(_ data: Data) async throws(HandoffError) {}
    /// Nothing more is sent; returns once the other side has finished too.
    public func finish() async throws(HandoffError) {}
    /// Gives the socket away: the caller has to close it, and nothing else works any more.
    public func takeDescriptor() throws(HandoffError) -> CInt {
        throw HandoffError(.notSupported, "No stream.")
    }
}
