// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// Runs `body` as one task on the main loop, which is started first if need be.
package func onLoop<Result: Sendable>(
    _ body: @escaping @MainLoop @Sendable () async throws -> Result
) async throws -> Result {
    LoopThread.start()
    return try await MainLoop.start(body).value
}
