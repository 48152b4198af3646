// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Synchronization

/// Another program wants what is owned as one type, and reads it from the descriptor that this has. If nobody takes that, it is
/// closed with this.
final class WaylandRequest: Sendable {
    /// The type.
    let type: String
    /// The number of the source that is asked.
    let source: UInt64
    /// Negative once it was taken.
    private let number: Atomic<Int32>

    /// Takes over the descriptor `number`; a negative one is none.
    init(_ type: String, of source: UInt64, owning number: Int32) {
        (self.type, self.source) = (type, source)
        self.number = Atomic(number)
    }

    deinit { _ = take() }

    /// The descriptor; nil if it was taken already.
    func take() -> FileDescriptor? {
        let number = number.exchange(-1, ordering: .acquiringAndReleasing)
        return number < 0 ? nil : FileDescriptor(owning: number)
    }
}
