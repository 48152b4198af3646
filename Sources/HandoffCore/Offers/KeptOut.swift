// SPDX-License-Identifier: LGPL-2.1-or-later

/// What would continue an offer if the user had not excluded it.
package struct KeptOut: Hashable, Sendable {
    /// The applications, best first.
    package let applications: [ApplicationID]
    /// Whether the user's browser is excluded, so that it is not given the web page either.
    package let hasBrowser: Bool

    /// Nothing unless said otherwise.
    package init(applications: [ApplicationID] = [], hasBrowser: Bool = false) {
        (self.applications, self.hasBrowser) = (applications, hasBrowser)
    }
}
