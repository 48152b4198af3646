// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

extension Broker {
    /// Tells subscribers that `device` has continued `object`.
    func tellContinued(_ object: ActivityObject, by device: DeviceID) {
        let continued: [String: Value] = [
            "DeviceId": .string(device.description), "DeviceName": .string(name(of: device)),
            "ActivityType": .string(object.type.description),
            "ApplicationId": .string(object.applicationID.description),
            "Title": .string(PeerText.title(object.title)), "Time": .int64(MainLoop.wallClock),
        ]
        connection.objects.tellSubscribers(of: HandoffNames.brokerPath) { () throws(DBusError) in
            try ManagerBinding.activityContinued(from: HandoffNames.brokerPath, continued: continued)
        }
    }
}
