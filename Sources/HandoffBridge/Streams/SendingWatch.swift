// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Synchronization

/// Lets the thread that sends and the main loop agree on when the loop has to watch what is sent.
///
/// The thread says that it begins before it asks whether it is watched, and the loop says that it no longer
/// watches before it looks whether the thread has begun: so at least one of them always sees the other, and
/// nothing is sent unwatched.
final class SendingWatch: Sendable {
    private let begun = Atomic<Int>(0)
    private let done = Atomic<Int>(0)
    private let seen = Atomic<Int>(0)
    private let isWatched = Atomic<Bool>(false)

    /// Something is about to be sent.
    /// - Returns: whether the loop has to be told, since it does not watch.
    func begin() -> Bool {
        begun.add(1, ordering: .sequentiallyConsistent)
        return !isWatched.load(ordering: .sequentiallyConsistent)
            && !isWatched.exchange(true, ordering: .sequentiallyConsistent)
    }

    /// What was about to be sent has been sent.
    func end() { done.add(1, ordering: .sequentiallyConsistent) }

    /// Whether the loop has to go on watching: something was sent since this was last asked, or is being
    /// sent. If not, the next ``begin()`` says that the loop has to be told.
    func isBusy() -> Bool {
        let begun = begun.load(ordering: .sequentiallyConsistent)
        let isNew = seen.exchange(begun, ordering: .relaxed) != begun
        if isNew || begun != done.load(ordering: .sequentiallyConsistent) { return true }
        isWatched.store(false, ordering: .sequentiallyConsistent)
        return self.begun.load(ordering: .sequentiallyConsistent) != begun
    }
}
