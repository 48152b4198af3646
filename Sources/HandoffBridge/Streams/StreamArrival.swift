// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// A connection that the other device is to make for one stream.
@MainLoop
final class StreamArrival {
    private var result: Result<TLSConnection, any Error>?
    private var continuation: CheckedContinuation<TLSConnection, any Error>?
    private let onResolved: @MainLoop () -> Void

    /// - Parameter onResolved: called once, when the connection has come, or when it is clear that it will
    ///   not.
    init(_ onResolved: @escaping @MainLoop () -> Void) { self.onResolved = onResolved }

    /// The connection has come, or will not. Only the first result counts; a connection that nobody wants is
    /// closed.
    func resolve(_ new: Result<TLSConnection, any Error>) {
        guard result == nil else {
            if case .success(let connection) = new { connection.close() }
            return
        }
        result = new
        continuation?.resume(with: new)
        continuation = nil
        onResolved()
    }

    /// Waits for the connection; to be called once.
    /// - Throws: why it does not come; `CancellationError`.
    func connection() async throws -> TLSConnection {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                if let result { return $0.resume(with: result) }
                continuation = $0
            }
        } onCancel: {
            MainLoop.start { self.resolve(.failure(CancellationError())) }
        }
    }
}
