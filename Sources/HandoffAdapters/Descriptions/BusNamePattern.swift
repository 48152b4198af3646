// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore

/// Bus names that the applications of an adapter own: one name, or all that begin alike.
package struct BusNamePattern: Hashable, Sendable {
    /// The name, or how names begin.
    private let text: String
    /// Whether more may follow.
    private let isBeginning: Bool
    /// What the bus is to tell of: this name, or this and those below it.
    private let watched: BusName

    /// The pattern written as `text`: a well-known bus name, or the beginning of such names with a `*` at its end, which
    /// holds at least two whole elements, so that the bus does not tell of every name.
    /// - Throws: `invalidArguments` if it is neither.
    package init(_ text: String) throws(HandoffFailure) {
        isBeginning = text.hasSuffix("*")
        self.text = isBeginning ? String(text.dropLast()) : text
        let elements = self.text.split(separator: ".", omittingEmptySubsequences: false)
        let whole = isBeginning ? elements.dropLast().joined(separator: ".") : self.text
        // What follows the last dot is the beginning of an element, and with anything behind it has to be one.
        guard !text.hasPrefix(":"), let watched = try? BusName(whole),
            (try? BusName(isBeginning ? self.text + "x" : self.text)) != nil
        else {
            throw HandoffFailure(
                .invalidArguments,
                "“\(PeerText.message(text))” is neither a well-known bus name nor the beginning of such names with a *"
                    + " behind it. Give at least two whole elements, as in org.mpris.MediaPlayer2.*.")
        }
        self.watched = watched
    }

    /// Whether `name` is one of them.
    package func matches(_ name: String) -> Bool {
        guard isBeginning else { return name == text }
        return name.utf8.count > text.utf8.count && name.utf8.starts(with: text.utf8)
    }

    /// What the bus has to be asked for to tell when one of them gets an owner.
    package var rule: MatchRule {
        isBeginning ? .ownerChanges(within: watched) : .ownerChange(of: watched)
    }
}
