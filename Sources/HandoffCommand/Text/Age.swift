// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// How long ago something was, for people.
enum Age {
    /// `then` as seen at `now`, both in microseconds since the Unix epoch; empty if `then` is 0, which stands
    /// for no time.
    static func text(of then: Int64, at now: Int64) -> String {
        if then == 0 { return "" }
        let (difference, overflow) = now.subtractingReportingOverflow(then)
        let seconds = overflow ? 0 : difference / 1_000_000
        switch seconds {
        case ..<1: return tr("just now")
        case ..<60: return tr("{count} s ago", ["count": "\(seconds)"])
        case ..<3600: return tr("{count} min ago", ["count": "\(seconds / 60)"])
        case ..<86_400: return tr("{count} h ago", ["count": "\(seconds / 3600)"])
        default: return tr("{count} d ago", ["count": "\(seconds / 86_400)"])
        }
    }

    /// A span of microseconds in milliseconds with one digit after the point, e.g. `12.3 ms`.
    static func milliseconds(_ microseconds: Int64) -> String {
        let tenths = max(0, microseconds) / 100
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
