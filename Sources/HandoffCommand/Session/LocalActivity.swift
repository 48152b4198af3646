// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffInterfaces

/// The part of an activity of this session that anybody may see.
struct LocalActivity: Equatable {
    let id: String
    let type: String
    let title: String
    let applicationID: String
    /// Whether the user has excluded its application, so that it is not offered.
    var isExcluded = false

    /// The current activity among `objects`, for a user who has excluded these applications.
    static func current(in objects: ManagedObjects, excluded: [String] = []) -> LocalActivity? {
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

    var json: JSON {
        [
            "id": .string(id), "type": .string(type), "title": .string(title),
            "applicationId": .string(applicationID), "excluded": .boolean(isExcluded),
        ]
    }
}
