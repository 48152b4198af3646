// SPDX-License-Identifier: LGPL-2.1-or-later

extension BackgroundThread {
    /// Runs `body`, which may block for as long as it likes, on a new thread, and returns what it returns.
    /// - Parameter name: at most 15 bytes, for debuggers.
    /// - Throws: what `body` throws, or that the system has no thread left.
    package static func run<Result: Sendable>(
        _ name: String, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            do throws(GLibError) {
                try start(name) { continuation.resume(with: Swift.Result { try body() }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
