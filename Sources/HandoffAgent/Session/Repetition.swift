// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop
internal import Platform

/// Has something that was not answered asked again, ever more seldom, until it is.
@MainLoop
final class Repetition {
    private var backoff = Backoff()
    private var timer: LoopSource?

    /// Nothing has failed.
    init() {}

    /// Calls `body` after a while, in place of what was to be called before.
    func repeatLater(_ body: @escaping @MainLoop () -> Void) {
        var generator = UnpredictableNumbers()
        timer = .timer(after: backoff.next(using: &generator)) { [weak self] in
            self?.timer = nil
            body()
        }
    }

    /// Nothing is to be asked again.
    func end() {
        timer = nil
        backoff.reset()
    }
}
