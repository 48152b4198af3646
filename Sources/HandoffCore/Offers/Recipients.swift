// SPDX-License-Identifier: LGPL-2.1-or-later

/// Which of the connections that registered as one application is handed an activity: the one that registered
/// last, unless it does not implement what is needed.
///
/// If it has no `WillContinueActivity`, another connection that has it is preferred; if it has no
/// `ContinueActivity`, it is handed nothing.
package struct Recipients: Sendable {
    /// What an application implements in order to be handed activities.
    package enum Member: Hashable, Sendable {
        /// `WillContinueActivity`
        case willContinue
        /// `ContinueActivity`
        case `continue`
    }

    private var lacking: [Member: Set<String>] = [:]

    /// No connection is known to lack anything.
    package init() {}

    /// `connection` does not implement `member`.
    package mutating func lacks(_ member: Member, _ connection: String) {
        lacking[member, default: []].insert(connection)
    }

    /// Whether `connection` is known not to implement `member`.
    package func isLacking(_ member: Member, _ connection: String) -> Bool {
        lacking[member]?.contains(connection) == true
    }

    /// The best of `connections`, given in the order in which they registered; nil if none is left.
    package func best(of connections: [String]) -> String? {
        let able = connections.filter { !isLacking(.continue, $0) }
        return able.last { !isLacking(.willContinue, $0) } ?? able.last
    }
}
