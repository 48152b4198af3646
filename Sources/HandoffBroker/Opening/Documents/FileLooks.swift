// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop
internal import Platform

/// Looks at files on threads of their own, since a file system that does not answer stops whoever asks it.
@MainLoop
final class FileLooks {
    /// How long anybody waits for a look.
    static let patience = Duration.milliseconds(500)

    private let maximum: Int
    /// How many have not come back, whether or not anybody waits for them.
    private var underWay = 0

    /// Looks of which at most `maximum` are under way at a time.
    init(atMost maximum: Int) { self.maximum = maximum }

    /// What `body` returns; nil if it takes longer than ``patience``, or if too many others do.
    func look<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result? {
        guard underWay < maximum else { return nil }
        underWay += 1
        return await withCheckedContinuation { continuation in
            let wait = Wait(continuation)
            do {
                try BackgroundThread.start("file look") { [self] in
                    let result = body()
                    MainLoop.start {
                        self.underWay -= 1
                        wait.end(result)
                    }
                }
            } catch {
                underWay -= 1
                wait.end(nil)
            }
        }
    }

    /// Somebody who waits for a look.
    @MainLoop
    private final class Wait<Result: Sendable> {
        private var continuation: CheckedContinuation<Result?, Never>?
        private var timer: LoopSource?

        init(_ continuation: CheckedContinuation<Result?, Never>) {
            self.continuation = continuation
            timer = .timer(after: FileLooks.patience) { [weak self] in self?.end(nil) }
        }

        func end(_ result: Result?) {
            timer?.cancel()
            timer = nil
            continuation?.resume(returning: result)
            continuation = nil
        }
    }
}
