// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// Hands on what comes, but no more often than once in a while: the latest counts. There is a timer only after something
/// has come.
@MainLoop
final class Latest<Content> {
    private let interval: Duration
    private let body: @MainLoop (Content) -> Void
    private var waiting: Content?
    private var timer: LoopSource?

    /// Calls `body` at most once in each `interval`.
    init(every interval: Duration, _ body: @escaping @MainLoop (Content) -> Void) {
        (self.interval, self.body) = (interval, body)
    }

    /// This has come.
    /// - Parameter isMinor: whether it says nothing that what waits already does not.
    func come(_ content: Content, unlessWaiting isMinor: Bool = false) {
        guard timer == nil else {
            if !isMinor || waiting == nil { waiting = content }
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
