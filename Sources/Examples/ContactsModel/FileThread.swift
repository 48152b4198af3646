// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// Threads for work that waits for a disk. Those of tasks are not for that, and once there are any the process wakes up every
/// second for as long as it runs.
public enum FileThread {
    /// Does `body` on a thread of its own, and returns once it is done.
    /// - Throws: what `body` throws, or that the system has no thread left.
    public static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            do throws(GLibError) {
                try BackgroundThread.start("contacts file") {
                    continuation.resume(with: Swift.Result(catching: body))
                }
            } catch {
                continuation.resume(throwing: ContactFile.Failure(description: error.message))
            }
        }
    }
}
