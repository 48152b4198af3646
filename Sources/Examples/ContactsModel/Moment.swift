// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// Moments, in microseconds since the Unix epoch.
package enum Moment {
    /// This moment, as far as the clock is right.
    package static var now: Int64 { Int64(g_get_real_time()) }
}
