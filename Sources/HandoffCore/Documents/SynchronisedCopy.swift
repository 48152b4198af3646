// SPDX-License-Identifier: LGPL-2.1-or-later

/// The file of this machine that is, or is going to be, a copy of a document of the origin, made by a program that keeps
/// a folder in step on both.
package struct SynchronisedCopy: Hashable, Sendable {
    /// How it compares with the document.
    package enum State: Hashable, Sendable {
        /// It is the document as it is at the origin, or a newer state of it.
        case current
        /// It has changed just now; it may be half written.
        case changing
        /// It is an older state, or a part.
        case behind
    }

    /// How many bytes it has.
    package let size: UInt64
    /// When it was modified, in microseconds since the Unix epoch.
    package let modified: Int64

    /// Some file systems keep times to two seconds only.
    private static let tolerance: Int64 = 2_000_000
    /// What has not changed for so long, in microseconds, is not being written.
    package static let rest: Int64 = 2_000_000

    /// A file of `size` bytes that was last modified then.
    package init(size: UInt64, modified: Int64) {
        (self.size, self.modified) = (size, modified)
    }

    /// How it compares with a document that had `size` bytes and was modified then, as far as that is known. `now` is the
    /// time by the clock that `modified` is told by.
    package func state(of size: UInt64?, _ modified: Int64?, now: Int64) -> State {
        let isSize = size == nil || size == self.size
        guard let modified else { return isSize ? .current : .behind }
        guard self.modified >= modified.subtractingClamped(Self.tolerance) else { return .behind }
        if isSize { return .current }
        // What is newer may have another size, but so does what is being written at this moment.
        guard self.modified > modified.addingClamped(Self.tolerance) else { return .behind }
        return self.modified <= now.subtractingClamped(Self.rest) ? .current : .changing
    }
}

extension Int64 {
    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (result, overflow) = subtractingReportingOverflow(other)
        return overflow ? .min : result
    }

    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (result, overflow) = addingReportingOverflow(other)
        return overflow ? .max : result
    }
}
