// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces

/// The part of an activity of this session that anybody may see.
package struct LocalActivity: Equatable, Sendable {
    package let id: String
    package let type: String
    package let title: String
    package let applicationID: String

    /// The current activity among `objects`.
    package static func current(in objects: ManagedObjects) -> LocalActivity? {
        for (path, interfaces) in objects {
            guard let properties = interfaces[ActivityProxy.interface.text], properties.flag("Current") else {
                continue
            }
            return LocalActivity(
                id: String(path.lastElement), type: properties.text("ActivityType"),
                title: properties.text("Title"), applicationID: properties.text("ApplicationId"))
        }
        return nil
    }
}
