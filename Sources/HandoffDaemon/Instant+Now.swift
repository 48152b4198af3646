// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore
internal import MainLoop

extension Instant {
    /// What the monotonic clock reads now.
    package static var now: Instant { Instant(microseconds: MainLoop.now) }
}

extension Moment {
    /// What both clocks read now.
    package static var now: Moment { Moment(instant: .now, wall: MainLoop.wallClock) }
}
