// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore
package import MainLoop

extension LoopClock {
    /// What the monotonic clock reads.
    package var instant: Instant { Instant(microseconds: now) }
    /// What both clocks read.
    package var moment: Moment { Moment(instant: instant, wall: wall) }
}

extension Instant {
    /// What the monotonic clock of the machine reads now.
    package static var now: Instant { Instant(microseconds: MainLoop.now) }
}

extension Moment {
    /// What both clocks of the machine read now.
    package static var now: Moment { Moment(instant: .now, wall: MainLoop.wallClock) }
}
