// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// Ends something that goes on with another client, once that makes no progress, or takes too long in all.
@MainLoop
final class X11Deadline {
    /// How long it takes in all at most.
    private static let limit: Int64 = 60_000_000

    private let patience: Int64
    private let end: Int64
    private var due: Int64
    private var timer: LoopSource?
    private let body: @MainLoop () -> Void

    /// Calls `body` once, when there was no progress for `patience` microseconds, or a minute after now. Freeing it ends that.
    init(patience: Int64, _ body: @escaping @MainLoop () -> Void) {
        let now = MainLoop.now
        (self.patience, self.body) = (patience, body)
        end = now + Self.limit
        due = min(now + patience, end)
        wait()
    }

    /// There was progress.
    func progressed() { due = min(MainLoop.now + patience, end) }

    private func wait() {
        timer = .timer(after: .microseconds(max(0, due - MainLoop.now))) { [weak self] in self?.fire() }
    }

    private func fire() {
        timer = nil
        // Progress does not set the timer anew: there may be much of it.
        if MainLoop.now >= due { body() } else { wait() }
    }
}
