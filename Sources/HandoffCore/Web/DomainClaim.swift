// SPDX-License-Identifier: LGPL-2.1-or-later

/// A claim of an application to show the pages of a host, or of all hosts below one.
package struct DomainClaim: Hashable, Sendable, CustomStringConvertible {
    /// The host whose site is asked whether it approves of the claim.
    package let host: WebHost
    /// Whether it claims all hosts below ``host``, and not that one itself.
    package let isWildcard: Bool

    /// The claim that is written as `text`: a host, or `*.` and a host. Nil if it is neither.
    package init?(_ text: String) {
        isWildcard = text.hasPrefix("*.")
        guard let host = WebHost(isWildcard ? text.dropFirst(2) : text[...]) else { return nil }
        self.host = host
    }

    /// The claim as it is written.
    package var description: String { isWildcard ? "*.\(host)" : host.description }

    /// Whether pages of `host` are claimed.
    package func covers(_ host: WebHost) -> Bool {
        isWildcard ? host.isBelow(self.host) : host == self.host
    }
}
