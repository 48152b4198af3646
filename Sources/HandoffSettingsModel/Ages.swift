// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// How long ago something was, in words.
package enum Ages {
    /// How long before `now` something began, both in microseconds since the Unix epoch; empty for 0, which stands for no time.
    /// What seems to come from the future, because clocks differ, has just been.
    package static func ago(_ then: Int64, at now: Int64) -> String {
        guard then != 0 else { return "" }
        let seconds = seconds(then, now)
        switch seconds {
        case ..<60: return tr("just now")
        case ..<3600: return trn("{count} minute ago", "{count} minutes ago", count: seconds / 60)
        case ..<86_400: return trn("{count} hour ago", "{count} hours ago", count: seconds / 3600)
        default: return trn("{count} day ago", "{count} days ago", count: seconds / 86_400)
        }
    }

    /// How long before `now` a connection was there that is not any more; both as in ``ago(_:at:)``.
    package static func last(_ then: Int64, at now: Int64) -> String {
        then == 0 ? tr("Not connected") : tr("Last connected {age}", ["age": ago(then, at: now)])
    }

    /// Since when a connection is there; both in microseconds since the Unix epoch.
    package static func connected(_ then: Int64, at now: Int64) -> String {
        guard then != 0 else { return tr("Connected") }
        let seconds = seconds(then, now)
        switch seconds {
        case ..<60: return tr("Connected just now")
        case ..<3600:
            return trn(
                "Connected for {count} minute", "Connected for {count} minutes", count: seconds / 60)
        case ..<86_400:
            return trn("Connected for {count} hour", "Connected for {count} hours", count: seconds / 3600)
        default:
            return trn("Connected for {count} day", "Connected for {count} days", count: seconds / 86_400)
        }
    }

    private static func seconds(_ then: Int64, _ now: Int64) -> Int {
        let (difference, overflow) = now.subtractingReportingOverflow(then)
        return overflow || difference < 0 ? 0 : Int(difference / 1_000_000)
    }
}
