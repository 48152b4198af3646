// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// Lets a limited number through at a time; the others wait for their turn.
@MainLoop
final class Turnstile {
    private let limit: Int
    private var inside = 0
    private var waiting: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    private var last = 0

    /// A turnstile that lets no more than `limit` be inside.
    init(_ limit: Int) { self.limit = limit }

    /// Whether somebody is inside.
    var isBusy: Bool { inside > 0 }

    /// Runs `body` when there is room.
    /// - Throws: what `body` throws; `CancellationError` if the task is cancelled before.
    func pass<Result: Sendable>(_ body: @MainLoop () async throws -> Result) async throws -> Result {
        try await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async throws {
        try Task.checkCancellation()
        if inside < limit {
            inside += 1
            return
        }
        last += 1
        let number = last
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiting.append((number, $0)) }
        } onCancel: {
            MainLoop.start { self.cancel(number) }
        }
    }

    private func cancel(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(throwing: CancellationError())
    }

    private func leave() {
        guard !waiting.isEmpty else {
            inside -= 1
            return
        }
        // Whoever comes next takes the place.
        waiting.removeFirst().continuation.resume()
    }
}
