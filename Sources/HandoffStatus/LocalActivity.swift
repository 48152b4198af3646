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
        for (path, interfaces) in objects {
            guard let properties = interfaces[ActivityProxy.interface.text], properties.flag("Current") else {
                continue
            }
            let application = properties.text("ApplicationId")
            return LocalActivity(
                id: String(path.lastElement), type: properties.text("ActivityType"),
                title: properties.text("Title"), applicationID: application,
                isExcluded: excluded.contains(application))
        }
        return nil
    }
}
