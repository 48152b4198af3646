// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore
internal import HandoffInterfaces
package import MainLoop

/// A broker by itself, on a machine that has nothing else, for the tests of applications.
extension Broker {
    /// A broker on `bus`, without its name yet, that knows no installed applications. What its user chooses and receives is
    /// kept in `folder`.
    package convenience init(alone bus: Bus, in folder: String, clock: LoopClock) throws {
        self.init(
            bus, try Preferences("\(folder)/handoff.conf"),
            ReceivedDocuments(in: folder, DocumentsMemory(nil)), clock: clock)
        applications.readFileNameTypes("/usr/share/mime/globs2")
        export()
        firstReading.end()
    }

    /// What is known of an activity.
    package struct KnownActivity: Sendable {
        package let id: ActivityID
        package let type: ActivityType
        package let title: String
        package let userInfo: [String: Value]
        package let applicationID: ApplicationID
        package let needsSave: Bool
        package let isOffered: Bool
        /// The names of the properties that are set.
        package let properties: Set<String>
    }

    /// The activity `id`; nil if there is no such.
    package func known(_ id: ActivityID) -> KnownActivity? {
        guard let object = activities.object(of: id) else { return nil }
        return KnownActivity(
            id: id, type: object.type, title: object.state.title, userInfo: object.state.userInfo.properties,
            applicationID: object.applicationID, needsSave: object.needsSave,
            isOffered: activities.offered == id, properties: Set(object.state.shared.keys))
    }

    /// The current activity of this device.
    package var current: ActivityID? { activities.current }
    /// The activity that other devices are offered.
    package var offered: ActivityID? { activities.offered }
    /// How many activities there are.
    package var activityCount: Int { activities.objects.count }
    /// Whether the user has switched Handoff on.
    package var isOn: Bool { activities.isEnabled }
    /// The ids of the applications that have registered.
    package var registeredApplications: [String] {
        applications.registry.all.map(\.applicationID.description)
    }

    /// Where what `device` offers is shown; nil if it offers nothing.
    /// - Throws: `NoApplication` if nothing here can continue that.
    package func shownOffer(of device: DeviceID) throws(HandoffFailure) -> ObjectPath? {
        guard let offer = offers.offer(of: device) else { return nil }
        if let hidden = offers.hidden.first(where: { $0.device == device }) {
            throw HandoffFailure(.noApplication, hidden.reason)
        }
        return try? HandoffNames.remote.appending(device.description).appending(offer.id.description)
    }
}
