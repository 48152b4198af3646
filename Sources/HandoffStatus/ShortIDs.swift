// SPDX-License-Identifier: LGPL-2.1-or-later

/// Ids shortened as far as they can still be told apart.
package struct ShortIDs {
    /// The fewest characters that are shown.
    package static let minimum = 8

    private let length: Int

    /// Lengths for `ids`, which are all shown together.
    package init(_ ids: some Sequence<String>) {
        let ids = Set(ids)
        let longest = ids.map(\.count).max() ?? 0
        var length = Self.minimum
        while length < longest, Set(ids.map { $0.prefix(length) }).count < ids.count { length += 1 }
        self.length = length
    }

    /// The beginning of `id` that is shown for it.
    package func short(_ id: String) -> String { String(id.prefix(length)) }
}
