// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore

/// What an application shows that could be continued elsewhere.
package struct ShownActivity: Equatable, Sendable {
    /// What makes it the same thing when it is shown again: an address, a path, the number of a window. Never sent.
    package let identity: String
    /// Which window or the like of the application shows it: what the others show stays open. Never sent.
    package let window: String
    /// The type.
    package let type: ActivityType
    /// Properties of `org.example.Handoff.Activity`.
    package var properties: [String: Value]

    /// An activity that is told from others by `identity`.
    package init(
        _ identity: String, in window: String = "", type: ActivityType, properties: [String: Value]
    ) {
        self.identity = identity
        self.window = window
        self.type = type
        self.properties = properties
    }

    /// Whether `other` shows the same thing, perhaps at another place.
    func isSameThing(as other: ShownActivity) -> Bool { identity == other.identity && type == other.type }

    /// The properties that are others than `former`'s.
    func changes(since former: ShownActivity) -> [String: Value] {
        properties.filter { former.properties[$0.key] != $0.value }
    }
}
