// SPDX-License-Identifier: LGPL-2.1-or-later

/// The applications that may continue each other's activities, known by a name that they all declare.
package struct Team: Hashable, Sendable, CustomStringConvertible {
    /// The team's name as it was written.
    package let description: String

    /// The team that has `application` for its only member.
    package init(_ application: ApplicationID) {
        description = application.description
    }

    /// The team written as `text`. Throws the reason if the text is not valid; the rules are those for
    /// application ids.
    package init(_ text: String) throws(HandoffFailure) {
        guard ApplicationID.isValid(text) else {
            throw HandoffFailure(
                .invalidArguments,
                "\"\(PeerText.message(text))\" is not a team. Use 1 to 255 letters, digits, dots, hyphens and"
                    + " underscores, no dot first, such as com.example.")
        }
        description = text
    }

    /// Whether `application` may claim this team by its name alone, as sandboxed applications must: the team
    /// is its id, or the first three or more of the labels of its id.
    package func isClaimable(by application: ApplicationID) -> Bool {
        let id = application.description
        if description == id { return true }
        let labels = description.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count >= 3 && labels.allSatisfy { !$0.isEmpty } && id.hasPrefix(description + ".")
    }
}
