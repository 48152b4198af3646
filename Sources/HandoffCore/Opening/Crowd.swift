// SPDX-License-Identifier: LGPL-2.1-or-later

/// Several at a time, of whom one has to go when there is no room for more.
public enum Crowd {
    /// The place of the one that has to go among those whose sources are `sources`, the oldest first: the oldest of the
    /// source that has the most, so that one source never takes what others need. Of several such sources it is the one
    /// whose oldest is the oldest; nil if there is nobody.
    public static func victim(among sources: [String]) -> Int? {
        var counts: [String: Int] = [:]
        for source in sources { counts[source, default: 0] += 1 }
        guard let most = counts.values.max() else { return nil }
        return sources.firstIndex { counts[$0] == most }
    }
}
