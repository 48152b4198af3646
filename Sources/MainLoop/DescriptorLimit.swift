// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// How many descriptors this process may have open.
public enum DescriptorLimit {
    /// Enough for all streams that all peers may have, three descriptors each.
    private static let wanted: rlim_t = 8192

    /// Raises the limit as far as is needed and allowed. The usual one is that of programs that use select(2).
    public static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < wanted
        else { return }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
