// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import Glibc
package import MainLoop

/// An application's end of a continuation's stream, read and written without blocking.
///
/// Each direction ends on its own. An end of what comes that the other application has not made is an error
/// (``StreamFailure/broken``); what it has made is the empty piece.
@MainLoop
package final class StreamEnd {
    private var descriptor: Int32
    private var sources: [Int: DescriptorSource] = [:]
    private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    private var next = 0
    /// An error that was seen before it could be read: the system reports it once.
    private var failure: StreamFailure?

    /// How many bytes a piece has at most, unless the reader says otherwise.
    package nonisolated static let pieceSize = 256 << 10
    /// What poll(2) reports once the other side sends nothing more, whatever is still to be read (`POLLRDHUP`).
    private static let otherEnded = IOCondition(rawValue: 0x2000)

    /// Takes over `descriptor`, a connected stream socket, as ``HandoffClient`` gives them.
    package init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor.take() }

    isolated deinit { close() }

    /// The next piece of what comes, of at most `limit` bytes; empty at the end.
    /// - Throws: ``StreamFailure``; `CancellationError` once the task is cancelled, and then nothing was read.
    package func read(upTo limit: Int = pieceSize) async throws -> [UInt8] {
        while true {
            try check()
            var (taken, error) = (-1, Int32(0))
            let piece = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
                taken = recv(descriptor, buffer.baseAddress, limit, Int32(MSG_DONTWAIT))
                error = errno
                count = max(0, taken)
            }
            if taken >= 0 { return piece }
            try await retry(error, .readable)
        }
    }

    /// Sends all of `bytes`, and returns once the last of it is on its way.
    /// - Throws: ``StreamFailure``; `CancellationError` once the task is cancelled, and then a part may have been sent.
    package func write(_ bytes: [UInt8]) async throws {
        var sent = 0
        while sent < bytes.count {
            try check()
            let written = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            }
            if written >= 0 { sent += written } else { try await retry(errno, .writable) }
        }
    }

    /// Sends nothing more, and returns once the other side does not either. What it sends until then has to be read
    /// meanwhile, or fit into what the system keeps.
    /// - Throws: ``StreamFailure``; `CancellationError` once the task is cancelled, and then this side has ended.
    package func finish() async throws {
        try check()
        guard shutdown(descriptor, Int32(SHUT_WR)) == 0 || errno == ENOTCONN else {
            throw StreamFailure(errno)
        }
        try await wait(for: Self.otherEnded)
        var (number, size): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size)
        if number != 0 { failure = StreamFailure(number) }
        try check()
    }

    /// Closes the descriptor: what was sent still arrives, and the other side reads the end then. What waits here fails.
    package func close() {
        guard descriptor >= 0 else { return }
        giveUp()
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Gives the descriptor away; nothing else works from then on.
    /// - Throws: ``StreamFailure/closed`` if it is closed, or was given away before.
    package func take() throws(StreamFailure) -> FileDescriptor {
        guard descriptor >= 0 else { throw .closed }
        giveUp()
        defer { descriptor = -1 }
        return FileDescriptor(owning: descriptor)
    }

    private func giveUp() {
        let all = waiting
        (waiting, sources) = ([:], [:])
        for one in all.values { one.resume(throwing: StreamFailure.closed) }
    }

    private func check() throws {
        try Task.checkCancellation()
        if descriptor < 0 { throw StreamFailure.closed }
        if let failure { throw failure }
    }

    /// After a call that failed: waits until it is worthwhile to try again.
    private func retry(_ number: Int32, _ condition: IOCondition) async throws {
        if number == EINTR { return }
        guard number == EAGAIN else {
            let failure = StreamFailure(number)
            if failure == .broken { self.failure = failure }
            throw failure
        }
        try await wait(for: condition)
    }

    private func wait(for condition: IOCondition) async throws {
        next += 1
        let number = next
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                waiting[number] = continuation
                sources[number] = DescriptorSource(descriptor, condition) { [weak self] _ in
                    self?.resume(number, .success(()))
                }
            }
        } onCancel: {
            MainLoop.start { [weak self] in self?.resume(number, .failure(CancellationError())) }
        }
    }

    private func resume(_ number: Int, _ result: Result<Void, any Error>) {
        sources[number] = nil
        waiting.removeValue(forKey: number)?.resume(with: result)
    }
}

/// Why a stream could not be read or written.
package enum StreamFailure: Error, Equatable {
    /// It ended without the other application having ended it: what has come is not all.
    case broken
    /// The other application takes nothing more.
    case refused
    /// It was closed, or given away, on this side.
    case closed
    /// Another error of the system, by its number.
    case system(Int32)

    init(_ number: Int32) {
        self =
            switch number {
            case ECONNRESET: .broken
            case EPIPE: .refused
            default: .system(number)
            }
    }
}
