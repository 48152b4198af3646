// SPDX-License-Identifier: LGPL-2.1-or-later

/// What stands in an entry that shows a name and in which the user types another: what is half typed stays.
package struct TypedName: Equatable, Sendable {
    private var shown = ""

    /// An entry that is empty.
    package init() {}

    /// The name is `name`, while `text` stands in the entry, which has the keyboard or not.
    /// - Returns: what has to stand there; nil for what does already, or what the user types.
    package mutating func show(_ name: String, over text: String, hasKeyboard: Bool) -> String? {
        guard !hasKeyboard || text == shown else { return nil }
        shown = name
        return text == name ? nil : name
    }

    /// The user has chosen what stands in the entry, `text`: it is not half typed any more.
    package mutating func choose(_ text: String) { shown = text }
}
