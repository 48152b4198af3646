// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
package import HandoffClient
internal import HandoffInterfaces

/// The part of an activity of this session that anybody may see.
package struct LocalActivity: Equatable, Sendable {
    package let id: String
    package let type: String
    package let title: String
    package let applicationID: String
    /// Whether the user has excluded its application, so that it is not offered.
    package var isExcluded = false

    /// The current activity among `objects`, for a user who has excluded these applications.
    package static func current(in objects: ManagedObjects, excluded: [String] = []) -> LocalActivity? {
        objects.first { $1[ActivityProxy.interface.text]?.flag("Current") == true }
            .flatMap { LocalActivity(at: $0.key, in: objects, excluded: excluded) }
    }

    /// The activity at `path` among `objects`; nil if there is none.
    init?(at path: ObjectPath, in objects: ManagedObjects, excluded: [String]) {
        guard let properties = objects[path]?[ActivityProxy.interface.text] else { return nil }
        id = String(path.lastElement)
        type = properties.text("ActivityType")
        title = properties.text("Title")
        applicationID = properties.text("ApplicationId")
        isExcluded = excluded.contains(applicationID)
    }
}
