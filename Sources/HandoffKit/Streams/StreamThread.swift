// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform
internal import Synchronization

/// The thread of one direction of a stream, which exists only once something has to wait.
final class StreamThread: Sendable {
    private let name: String
    private let hasBegun = Atomic<Bool>(false)

    /// A thread of this name that has not begun.
    init(_ name: String) { self.name = name }

    /// Runs `body` on the thread, unless that has been asked for before.
    /// - Throws: that the system has no thread left.
    func begin(_ body: @escaping @Sendable () -> Void) throws(GLibError) {
        if hasBegun.exchange(true, ordering: .relaxed) { return }
        try BackgroundThread.start(name, body)
    }
}
