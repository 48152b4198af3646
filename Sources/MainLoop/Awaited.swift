// SPDX-License-Identifier: LGPL-2.1-or-later

/// Something that comes once, and that any number of tasks may wait for, each for only so long.
@MainLoop
package final class Awaited<Value: Sendable> {
    /// What has come; nil as long as nothing has.
    package private(set) var value: Value?
    private var waiting: [Int: (continuation: CheckedContinuation<Value?, Never>, timer: LoopSource?)] = [:]
    private var nextNumber = 0

    /// Nothing has come yet.
    package init() {}

    /// It has come. Only the first counts, also for those who ask for it later.
    /// - Returns: whether anybody has been waiting for it.
    @discardableResult
    package func come(_ value: Value) -> Bool {
        guard self.value == nil else { return false }
        self.value = value
        let all = waiting.sorted { $0.key < $1.key }
        waiting = [:]
        for (_, one) in all {
            one.timer?.cancel()
            one.continuation.resume(returning: value)
        }
        return !all.isEmpty
    }

    /// Waits until it has come, for at most `time`; nil for however long that takes.
    /// - Returns: nil if it has not come by then.
    package func value(within time: Duration?) async -> Value? {
        if let value { return value }
        nextNumber += 1
        let number = nextNumber
        return await withCheckedContinuation { continuation in
            let timer = time.map {
                LoopSource.timer(after: $0) { [self] in
                    waiting.removeValue(forKey: number)?.continuation.resume(returning: nil)
                }
            }
            waiting[number] = (continuation, timer)
        }
    }
}
