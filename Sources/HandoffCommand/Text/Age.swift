// SPDX-License-Identifier: LGPL-2.1-or-later

/// How long ago something was, for people.
enum Age {
    /// `then` as seen at `now`, both in microseconds since the Unix epoch; empty if `then` is 0, which stands
    /// for no time.
    static func text(of then: Int64, at now: Int64) -> String {
        if then == 0 { return "" }
        let (difference, overflow) = now.subtractingReportingOverflow(then)
        let seconds = overflow ? 0 : difference / 1_000_000
        switch seconds {
        case ..<1: return "just now"
        case ..<60: return "\(seconds) s ago"
        case ..<3600: return "\(seconds / 60) min ago"
        case ..<86_400: return "\(seconds / 3600) h ago"
        default: return "\(seconds / 86_400) d ago"
        }
    }

    /// A span of microseconds in milliseconds with one digit after the point, e.g. `12.3 ms`.
    static func milliseconds(_ microseconds: Int64) -> String {
        let tenths = max(0, microseconds) / 100
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
