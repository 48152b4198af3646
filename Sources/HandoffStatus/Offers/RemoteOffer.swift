// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient
internal import HandoffInterfaces

/// An activity of another device, as the broker shows it: the current one, or another that is open there and was listed.
package struct RemoteOffer: Equatable, Sendable {
    /// Its object, from which id and device are taken.
    package let path: ObjectPath
    /// 32 hexadecimal digits.
    package let id: String
    /// 64 hexadecimal digits.
    package let deviceID: String
    /// What its user calls the device.
    package private(set) var deviceName = ""
    /// The kind of device, by the chassis names of the machine; may be empty.
    package private(set) var deviceType = ""
    /// The type of the activity.
    package private(set) var type = ""
    /// Its title; may be empty.
    package private(set) var title = ""
    /// The application that it comes from.
    package private(set) var applicationID = ""
    /// The local applications that can continue it, best first.
    package private(set) var handlers: [String] = []
    /// Those of them that do not run, and have to be started.
    package private(set) var handlersToStart: [String] = []
    /// When it became current there, in microseconds since the Unix epoch.
    package private(set) var since: Int64 = 0
    /// When it was last used there, in microseconds since the Unix epoch, to the minute; 0 if the broker does not say.
    package private(set) var lastUsed: Int64 = 0
    /// `available` or `continuing`.
    package private(set) var state = ""
    /// Why nothing here can continue it, and what to do, for people to read; empty if something can.
    package private(set) var obstacle = ""
    /// Whether the user of the device has sent it to this one.
    package private(set) var isInvited = false
    /// When they have, in microseconds since the Unix epoch; 0 if they have not.
    package private(set) var invitedAt: Int64 = 0
    /// When its device has left it here, in microseconds since the Unix epoch; 0 unless that sleeps.
    package private(set) var parkedAt: Int64 = 0
    /// From 0 to 1, nil if it is not known.
    package private(set) var progress: Double?
    /// Whether the application that continues it shows by itself that it is coming.
    package private(set) var isShownByApplication = false
    /// Whether it is not offered, and was listed for the user, who wanted to see what is open at the device.
    package private(set) var isListed = false
    /// Whether something here can continue it.
    package var canContinue: Bool { obstacle.isEmpty }

    /// The offer at `path` if it is one.
    package init?(_ path: ObjectPath, _ interfaces: [String: [String: Value]]) {
        guard let properties = interfaces[RemoteActivityProxy.interface.text],
            let suffix = path.suffix(below: HandoffNames.remote)
        else { return nil }
        let parts = suffix.split(separator: "/")
        guard parts.count == 2 else { return nil }
        self.path = path
        deviceID = String(parts[0])
        id = String(parts[1])
        update(properties)
    }

    /// Takes over the properties that are in `changed`.
    package mutating func update(_ changed: [String: Value]) {
        if changed["DeviceName"] != nil { deviceName = changed.text("DeviceName") }
        if changed["DeviceType"] != nil { deviceType = changed.text("DeviceType") }
        if changed["ActivityType"] != nil { type = changed.text("ActivityType") }
        if changed["Title"] != nil { title = changed.text("Title") }
        if changed["ApplicationId"] != nil { applicationID = changed.text("ApplicationId") }
        if changed["Handlers"] != nil { handlers = changed.texts("Handlers") }
        if changed["HandlersToStart"] != nil { handlersToStart = changed.texts("HandlersToStart") }
        if changed["Since"] != nil { since = changed.time("Since") }
        if changed["LastUsed"] != nil { lastUsed = changed.time("LastUsed") }
        if changed["ShownByApplication"] != nil { isShownByApplication = changed.flag("ShownByApplication") }
        if changed["State"] != nil { state = changed.text("State") }
        if changed["Invited"] != nil { isInvited = changed.flag("Invited") }
        if changed["InvitedAt"] != nil { invitedAt = changed.time("InvitedAt") }
        if changed["ParkedAt"] != nil { parkedAt = changed.time("ParkedAt") }
        if changed["Listed"] != nil { isListed = changed.flag("Listed") }
        if changed["Obstacle"] != nil { obstacle = changed.text("Obstacle") }
        if let number = changed.real("Progress") { progress = (0...1).contains(number) ? number : nil }
    }

    /// The offers among `objects`, the latest first.
    package static func all(in objects: ManagedObjects) -> [RemoteOffer] {
        objects.compactMap { RemoteOffer($0, $1) }
            .sorted { ($1.since, $0.path) < ($0.since, $1.path) }
    }
}
