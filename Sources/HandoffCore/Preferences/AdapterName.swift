// SPDX-License-Identifier: LGPL-2.1-or-later

/// What an adapter is called: the program that stands for an application which does not know Handoff.
package struct AdapterName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name as it was written.
    package let description: String

    /// How many bytes a name may have.
    package static let maximumSize = 64
    /// How many adapters the user may switch off.
    package static let maximumCount = 64

    /// The name written as `text`.
    /// - Throws: `invalidArguments` unless it is 1 to 64 ASCII letters, digits and hyphens.
    package init(_ text: String) throws(HandoffFailure) {
        let underscore = UInt8(ascii: "_")
        guard 1...Self.maximumSize ~= text.utf8.count,
            text.utf8.allSatisfy({ $0.isLabelCharacter && $0 != underscore })
        else {
            throw HandoffFailure(
                .invalidArguments,
                "“\(PeerText.message(text))” is not the name of an adapter. Use 1 to \(Self.maximumSize) letters,"
                    + " digits and hyphens.")
        }
        description = text
    }

    /// The adapters that are called so, each once.
    /// - Throws: `invalidArguments` naming the one that cannot be, or `limitsExceeded`.
    package static func set(_ texts: [String]) throws(HandoffFailure) -> Set<AdapterName> {
        guard texts.count <= maximumCount else {
            throw .tooMany(
                "adapters that are switched off (\(texts.count))", limit: maximumCount,
                advice: "Name each only once, and leave out those that are not installed.")
        }
        var names: Set<AdapterName> = []
        for text in texts { names.insert(try AdapterName(text)) }
        return names
    }

    /// Whether `lhs` comes before `rhs` in an alphabetical list.
    package static func < (lhs: AdapterName, rhs: AdapterName) -> Bool { lhs.description < rhs.description }
}
