// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// How many descriptors this process may have open.
package enum DescriptorLimit {
    /// Enough for all streams that all peers may have, three descriptors each.
    private static let wanted: rlim_t = 8192

    /// With fewer than this, GLib ends the process at some point without saying why.
    private static let least: rlim_t = 64

    /// Why a daemon cannot run, for people to read; nil if there are enough descriptors.
    package static var shortage: String? {
        guard let limit = current, limit.rlim_cur < least else { return nil }
        return
            "Only \(limit.rlim_cur) files may be open at a time, which is too few: at least \(least) are needed."
            + " Raise the limit (ulimit -n, LimitNOFILE=)."
    }

    /// How many are kept for ``withReserve(_:)``: more than come with one message (dbus-daemon(1),
    /// `max_message_unix_fds`).
    private static let reserve: rlim_t = 32

    /// How many this process was allowed before it raised the limit, which is what programs get that it starts; 0 if that
    /// is not known.
    static let original = UInt64(current?.rlim_cur ?? 0)

    /// Raises the limit as far as is needed and allowed, except for the reserve. The usual limit is meant for
    /// programs that use select(2).
    package static func raise() {
        guard var limit = current else { return }
        // Looked up once, and before anything changes.
        _ = original
        let most = limit.rlim_max > least + reserve ? limit.rlim_max - reserve : limit.rlim_max
        limit.rlim_cur = min(max(wanted, limit.rlim_cur), most)
        set(limit)
    }

    /// Runs `body` with some more descriptors than everything else may have. This is for work that, without a
    /// descriptor, would not only fail itself but bring down the whole program or a caller.
    package static func withReserve<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let ordinary = current else { return try body() }
        var raised = ordinary
        raised.rlim_cur = min(ordinary.rlim_max, ordinary.rlim_cur + reserve)
        set(raised)
        defer { set(ordinary) }
        return try body()
    }

    private static var current: rlimit? {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? limit : nil
    }

    private static func set(_ limit: rlimit) {
        var limit = limit
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
