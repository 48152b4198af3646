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

    /// The current activity among `objects`.
    static func current(in objects: ManagedObjects) -> LocalActivity? {
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

    var json: JSON {
        [
            "id": .string(id), "type": .string(type), "title": .string(title),
            "applicationId": .string(applicationID),
        ]
    }
}
