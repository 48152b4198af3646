// SPDX-License-Identifier: LGPL-2.1-or-later

/// Several that are there at the same time, one of which has to go when there is no more room.
package enum Crowd {
    /// The index of the one that has to go, where `sources` are the sources of all, the oldest first. It is
    /// the oldest one of the source that has the most, so that one source never takes what others need; if
    /// several sources have the most, it is the oldest one of them all. Nil if there is nobody.
    package static func victim(among sources: [String]) -> Int? {
        var counts: [String: Int] = [:]
        for source in sources { counts[source, default: 0] += 1 }
        guard let most = counts.values.max() else { return nil }
        return sources.firstIndex { counts[$0] == most }
    }
}
