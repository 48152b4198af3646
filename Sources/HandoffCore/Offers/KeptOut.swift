// SPDX-License-Identifier: LGPL-2.1-or-later

/// What would continue an offer if the user had not excluded it.
package struct KeptOut: Hashable, Sendable {
    /// The applications, best first.
    package let applications: [ApplicationID]
    /// Whether the user's browser is excluded, so that it is not given the web page either.
    package let hasBrowser: Bool
    /// Who declares the type of the offer and is of another team: that is the likeliest mistake of an author.
    package let ofOtherTeam: Stranger?
    /// The desktop entries of the applications of which one has to be installed so that an adapter can continue the offer; empty if
    /// that is not what is missing.
    package let needed: [String]

    /// An application of a team.
    package struct Stranger: Hashable, Sendable {
        package let application: ApplicationID
        package let team: Team
    }

    /// Nothing unless said otherwise.
    package init(
        applications: [ApplicationID] = [], hasBrowser: Bool = false, ofOtherTeam: Stranger? = nil,
        needed: [String] = []
    ) {
        (self.applications, self.hasBrowser, self.ofOtherTeam) = (applications, hasBrowser, ofOtherTeam)
        self.needed = needed
    }
}
