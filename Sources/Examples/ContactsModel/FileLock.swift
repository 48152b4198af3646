// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import Platform

/// A lock that one process at a time has, for as long as the value is there. It is on a file of its own, as what it protects
/// is a new file after each change.
final class FileLock {
    private let descriptor: CInt

    /// Waits until nobody else has the lock on the file at `path`, but no longer than `limit`, blocking the thread.
    /// - Throws: that somebody else keeps it, or that the file can't be used.
    init(_ path: String, within limit: Duration) throws(ContactFile.Failure) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            let reason = SystemError.last
            throw ContactFile.Failure(
                description: tr("{path} can't be opened: {reason}.", ["path": path, "reason": reason]))
        }
        do throws(ContactFile.Failure) {
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0 { try Self.wait(descriptor, path, limit) }
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    // Closing the file unlocks it.
    deinit { close(descriptor) }

    private static func wait(
        _ descriptor: CInt, _ path: String, _ limit: Duration
    ) throws(ContactFile.Failure) {
        let waiting = LockWaiting()
        do throws(GLibError) {
            try waiting.begin(descriptor)
        } catch {
            throw ContactFile.Failure(
                description: tr(
                    "{path} can't be waited for: {reason}", ["path": path, "reason": error.message]))
        }
        guard let number = waiting.outcome(within: limit) else {
            throw ContactFile.Failure(
                description: trn(
                    "Another program has kept {path} locked for {count} second. End it, and try again.",
                    "Another program has kept {path} locked for {count} seconds. End it, and try again.",
                    count: Int(limit.components.seconds), ["path": path])
            )
        }
        guard number == 0 else {
            throw ContactFile.Failure(
                description: tr(
                    "{path} can't be locked: {reason}.",
                    ["path": path, "reason": SystemError.text(number)]))
        }
    }
}

/// A thread that waits for a lock: the system has no call that waits for so long and no longer, and who only looked again and
/// again would find it taken each time by those who wait.
private final class LockWaiting: @unchecked Sendable {
    // @unchecked: `number` is only touched with `mutex` held, which is safe from any thread, as is `done`.
    private let mutex = UnsafeMutablePointer<GMutex>.allocate(capacity: 1)
    private let done = UnsafeMutablePointer<GCond>.allocate(capacity: 1)
    private var number: CInt?

    init() {
        g_mutex_init(mutex)
        g_cond_init(done)
    }

    deinit {
        g_mutex_clear(mutex)
        g_cond_clear(done)
        mutex.deallocate()
        done.deallocate()
    }

    /// Begins to wait for the lock on the file that `descriptor` has opened. If that is closed meanwhile, nobody keeps the lock
    /// once it comes.
    func begin(_ descriptor: CInt) throws(GLibError) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return end(errno) }
        do throws(GLibError) {
            try BackgroundThread.start("contacts lock") { [self] in
                var outcome: CInt = 0
                while flock(copy, LOCK_EX) != 0 {
                    if errno == EINTR { continue }
                    outcome = errno
                    break
                }
                close(copy)
                end(outcome)
            }
        } catch {
            close(copy)
            throw error
        }
    }

    /// What has come of it, as an error number, 0 for the lock; nil if that is not known within `limit`.
    func outcome(within limit: Duration) -> CInt? {
        g_mutex_lock(mutex)
        defer { g_mutex_unlock(mutex) }
        let end = g_get_monotonic_time() + gint64(limit.components.seconds) * 1_000_000
        while number == nil, g_cond_wait_until(done, mutex, end) != 0 {}
        return number
    }

    private func end(_ number: CInt) {
        g_mutex_lock(mutex)
        self.number = number
        g_cond_signal(done)
        g_mutex_unlock(mutex)
    }
}
