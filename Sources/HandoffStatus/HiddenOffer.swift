// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
package import HandoffCore

/// An offer of another device that is not listed, because nothing here continues it.
package struct HiddenOffer: ListedEntry, Equatable, Sendable {
    /// 32 hexadecimal digits.
    package let id: String
    package let deviceID: String
    package let deviceName: String
    package let type: String
    package let applicationID: String
    package let title: String
    /// When it became current there, in microseconds since the Unix epoch.
    package let since: Int64
    /// Whether the user of the device has sent it to this one.
    package let isInvited: Bool
    /// Why it is hidden and what to do about it, for people to read.
    package let reason: String
    /// The application that would continue it if the user had not excluded it; empty if there is none.
    package let excludedApplication: String

    /// The offer that these properties describe.
    package init(_ properties: [String: Value]) {
        id = properties.text("ActivityId")
        deviceID = properties.text("DeviceId")
        deviceName = properties.text("DeviceName")
        type = properties.text("ActivityType")
        applicationID = properties.text("ApplicationId")
        title = properties.text("Title")
        since = properties.time("Since")
        isInvited = properties.flag("Invited")
        reason = properties.text("Reason")
        excludedApplication = properties.text("ExcludedApplication")
    }

    /// What to call its device.
    package var device: ChosenText { .device(name: deviceName, id: deviceID) }

    /// What to call it.
    package var label: ChosenText { ChosenText(title: title.isEmpty ? applicationID : title) }
}
