// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// Hands on what comes, but no more often than once in a while: the latest counts. There is a timer only after something
/// has come.
@MainLoop
package final class Latest<Content> {
    private let interval: Duration
    private let body: @MainLoop (Content) -> Void
    private var waiting: Content?
    private var timer: LoopSource?

    /// Calls `body` at most once in each `interval`.
    package init(every interval: Duration, _ body: @escaping @MainLoop (Content) -> Void) {
        (self.interval, self.body) = (interval, body)
    }

    /// This has come.
    package func come(_ content: Content) {
        guard timer == nil else {
            waiting = content
            return
        }
        timer = .timer(after: interval) { [weak self] in self?.next() }
        body(content)
    }

    private func next() {
        timer = nil
        guard let content = waiting else { return }
        waiting = nil
        come(content)
    }
}
