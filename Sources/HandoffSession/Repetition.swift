// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
package import MainLoop
internal import Platform

/// Has something that has failed tried again, ever more seldom, until it succeeds.
@MainLoop
package final class Repetition {
    /// How often it was to be tried again since ``end()``.
    package private(set) var count = 0
    /// Whether it is about to be tried again.
    package var isDue: Bool { timer != nil }
    private var backoff = Backoff()
    private var timer: LoopSource?

    /// Nothing has failed.
    package init() {}

    /// Calls `body` after a while, in place of what was to be called before, unless that was wanted `maximum` times already.
    package func repeatLater(atMost maximum: Int = .max, _ body: @escaping @MainLoop () -> Void) {
        count += 1
        guard count <= maximum else { return }
        var generator = UnpredictableNumbers()
        timer = .timer(after: backoff.next(using: &generator)) { [weak self] in
            self?.timer = nil
            body()
        }
    }

    /// Nothing is to be called now; how often it was to be still counts.
    package func pause() { timer = nil }

    /// Nothing is to be called, and the next wait is short again.
    package func end() {
        (timer, count) = (nil, 0)
        backoff.reset()
    }
}
