// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// Times as people where this machine is read them.
package enum LocalTime {
    /// The hour and the minute of a time in microseconds since the Unix epoch, such as `20:15`; empty if there is no such time.
    package static func ofDay(_ time: Int64) -> String {
        guard let date = g_date_time_new_from_unix_local(gint64(time / 1_000_000)) else { return "" }
        defer { g_date_time_unref(date) }
        guard let text = g_date_time_format(date, "%H:%M") else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
