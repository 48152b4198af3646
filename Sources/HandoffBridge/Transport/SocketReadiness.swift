// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import MainLoop

extension SocketConnection {
    /// Returns when there is something to read, or the end.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    @MainLoop
    func untilReadable() async throws {
        let readiness = SocketReadiness(g_socket_get_fd(g_socket_connection_get_socket(reference.raw)))
        try await withTaskCancellationHandler {
            try await readiness.wait()
        } onCancel: {
            MainLoop.start { readiness.finish(.failure(CancellationError())) }
        }
    }
}

/// One wait for a socket: whichever of the socket and the cancellation comes first ends it.
@MainLoop
private final class SocketReadiness {
    private let descriptor: Int32
    private var continuation: CheckedContinuation<Void, any Error>?
    private var source: DescriptorSource?

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    func wait() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
            self.continuation = continuation
            source = DescriptorSource(descriptor, .readable) { [weak self] _ in self?.finish(.success(())) }
        }
    }

    func finish(_ result: Result<Void, any Error>) {
        source?.cancel()
        source = nil
        continuation?.resume(with: result)
        continuation = nil
    }
}
