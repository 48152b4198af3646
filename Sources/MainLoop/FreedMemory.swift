// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// Gives memory back to the system once much of it has become free and clients have finished leaving.
/// Otherwise the allocator would keep it.
@MainLoop
package final class FreedMemory {
    /// How many bytes have to become free.
    private static let threshold = 4 << 20
    /// How long to wait for more to become free.
    private static let delay = Duration.seconds(1)

    private var bytes = 0
    private var timer: LoopSource?

    /// Nothing has become free yet.
    package init() {}

    /// `count` bytes are no longer needed.
    package func freed(_ count: Int) {
        bytes += count
        guard bytes >= Self.threshold, timer == nil else { return }
        timer = .timer(after: Self.delay) { [weak self] in
            self?.timer = nil
            self?.bytes = 0
            ProcessMemory.returnFree()
        }
    }
}
