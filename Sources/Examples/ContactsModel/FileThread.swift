// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// Threads for work that waits for a disk. Those of tasks are not for that, and once there are any the process wakes up every
/// second for as long as it runs.
package enum FileThread {
    /// Does `body` on a thread of its own, and returns once it is done.
    /// - Throws: what `body` throws, or that the system has no thread left.
    package static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let done = Handover<Result, any Error>()
        do throws(GLibError) {
            try BackgroundThread.start("contacts file") { done.resume(with: Swift.Result(catching: body)) }
        } catch {
            throw ContactFile.Failure(description: error.message)
        }
        return try await done.take()
    }
}

/// Work that waits for a disk, one piece after the other.
@MainActor
package final class FileQueue {
    private var isBusy = false
    private var waiting: [Handover<Void, Never>] = []

    /// A queue with nothing in it.
    package init() {}

    /// Does `body` on a thread of its own after all that was asked for before, and returns once it is done.
    /// - Throws: what `body` throws, or that the system has no thread left.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result
    {
        if isBusy {
            let turn = Handover<Void, Never>()
            waiting.append(turn)
            await turn.take()
        }
        isBusy = true
        defer { leave() }
        return try await FileThread.run(body)
    }

    /// Who comes next takes the place, so that nobody else does meanwhile.
    private func leave() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
}
