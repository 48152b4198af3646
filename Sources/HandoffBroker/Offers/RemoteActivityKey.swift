// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces

/// Identifies an offer: the device and the activity.
struct RemoteActivityKey: Hashable {
    let device: DeviceID
    let activity: ActivityID

    init(_ device: DeviceID, _ activity: ActivityID) {
        self.device = device
        self.activity = activity
    }

    /// What the object at this path is; nil if there can be none.
    init?(_ path: ObjectPath) {
        let parts = path.suffix(below: HandoffNames.remote)?.split(separator: "/") ?? []
        guard parts.count == 2, let device = DeviceID(String(parts[0])),
            let activity = ActivityID(String(parts[1]))
        else { return nil }
        self.init(device, activity)
    }
}
