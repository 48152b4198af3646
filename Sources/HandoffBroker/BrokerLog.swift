// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// What the broker tells the journal.
let brokerLog = Log(domain: "handoff-broker")

extension Moment {
    /// What both clocks read now.
    static var now: Moment { Moment(instant: .now, wall: MainLoop.wallClock) }
}

extension Instant {
    /// What the monotonic clock reads now.
    static var now: Instant { Instant(microseconds: MainLoop.now) }
}
