// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

extension Instant {
    /// This moment, by the clock of the main loop.
    static var now: Instant { Instant(microseconds: MainLoop.now) }
}
