// SPDX-License-Identifier: LGPL-2.1-or-later

/// A point of a monotonic clock whose start is arbitrary; only differences mean anything.
package struct Instant: InstantProtocol {
    /// Microseconds since the clock's start.
    package let microseconds: Int64

    /// The instant that lies `microseconds` after the clock's start.
    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// The instant that lies `duration` later, cut to whole microseconds and to the clock's range.
    package func advanced(by duration: Duration) -> Instant {
        let (sum, overflow) = microseconds.addingReportingOverflow(duration.wholeMicroseconds)
        guard overflow else { return Instant(microseconds: sum) }
        return Instant(microseconds: duration < .zero ? .min : .max)
    }

    /// How much later `other` is; negative if it is earlier.
    package func duration(to other: Instant) -> Duration {
        .microseconds(other.microseconds) - .microseconds(microseconds)
    }

    /// Whether `lhs` is earlier than `rhs`.
    package static func < (lhs: Instant, rhs: Instant) -> Bool {
        lhs.microseconds < rhs.microseconds
    }
}

/// One reading of both clocks: the monotonic clock, which deadlines go by, and the wall clock, which dates go
/// by.
package struct Moment: Hashable, Sendable {
    /// The monotonic clock's reading.
    package let instant: Instant
    /// The wall clock's reading, in microseconds since the Unix epoch.
    package let wall: Int64

    /// A reading of both clocks, taken together.
    package init(instant: Instant, wall: Int64) {
        self.instant = instant
        self.wall = wall
    }
}

extension Duration {
    /// This duration in whole microseconds, cut to the range of `Int64`.
    package var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, tooLongByAHair) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        guard tooLong || tooLongByAHair else { return sum }
        return seconds < 0 ? .min : .max
    }
}
