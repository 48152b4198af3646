// SPDX-License-Identifier: LGPL-2.1-or-later

/// What makes one list of texts into another: some in the middle are replaced, and those before and after stay.
package struct ListChange: Equatable {
    /// How many stay before those that are replaced.
    package let position: Int
    /// How many are taken out.
    package let removed: Int
    /// What comes in their place.
    package let added: [String]

    /// What makes `former` into `new`; nil if they are equal.
    package init?(from former: [String], to new: [String]) {
        let before = zip(former, new).prefix { $0 == $1 }.count
        let rest = min(former.count, new.count) - before
        let after = zip(former.reversed(), new.reversed()).prefix(rest).prefix { $0 == $1 }.count
        position = before
        removed = former.count - before - after
        added = Array(new[before..<(new.count - after)])
        if removed == 0 && added.isEmpty { return nil }
    }
}
