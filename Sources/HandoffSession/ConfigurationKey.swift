// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore
package import Platform

/// A key of `handoff.conf` (handoff.conf(5)), in its group.
package struct ConfigurationKey: Sendable {
    /// The group.
    package let group: String
    /// The name in the group.
    package let name: String

    /// Whether Handoff is on.
    package static let enabled = ConfigurationKey(group: "Handoff", name: "Enabled")
    /// Whether offers are shown that nothing here can continue.
    package static let showsUnhandled = ConfigurationKey(group: "Handoff", name: "ShowUnhandledOffers")
    /// Whether what is offered is left with peers before this machine sleeps.
    package static let parks = ConfigurationKey(group: "Handoff", name: "Park")
    /// Whether peers are told of each other, and what they tell of theirs is shown.
    package static let introduces = ConfigurationKey(group: "Handoff", name: "Introduces")
    /// Whether all that is open is listed for peers whose users ask for it.
    package static let sharesOpenActivities = ConfigurationKey(group: "Handoff", name: "ShareOpenActivities")
    /// What becomes of the clipboard.
    package static let clipboard = ConfigurationKey(group: "Handoff", name: "Clipboard")
    /// What peers call this device.
    package static let deviceName = ConfigurationKey(group: "Device", name: "Name")
    /// Where the bridge listens.
    package static let port = ConfigurationKey(group: "Network", name: "Port")
    /// Whether peers are told where this device can be reached from other networks.
    package static let sharesAddresses = ConfigurationKey(group: "Network", name: "ShareAddresses")
    /// When there is a notification for offers.
    package static let notifiesOffers = ConfigurationKey(group: "Notifications", name: "Offers")
    /// Whether there is a notification when something was continued elsewhere.
    package static let notifiesContinued = ConfigurationKey(group: "Notifications", name: "Continued")
    /// The applications that are kept out.
    package static let excludedApplications = ConfigurationKey(group: "Handoff", name: "ExcludedApplications")
    /// The adapters that are switched off.
    package static let disabledAdapters = ConfigurationKey(group: "Adapters", name: "Disabled")
    /// Where documents that come over are put.
    package static let documentsFolder = ConfigurationKey(group: "Documents", name: "Folder")
    /// The application that the user has chosen for activities of `type`.
    package static func application(for type: ActivityType) -> ConfigurationKey {
        ConfigurationKey(group: applications, name: type.key)
    }
    /// The group of the applications that the user has chosen.
    package static let applications = "Applications"

    /// Where it stands, for people.
    package var place: String { "[\(group)], \(name)" }
}

extension KeyFile {
    /// The value of `key`, nil if there is none.
    /// - Throws: if it is not a string.
    package func string(_ key: ConfigurationKey) throws(KeyFileError) -> String? {
        try string(key.name, in: key.group)
    }

    /// The value of `key`, nil if there is none.
    /// - Throws: if it is not an integer.
    package func integer(_ key: ConfigurationKey) throws(KeyFileError) -> Int64? {
        try integer(key.name, in: key.group)
    }

    /// The value of `key`, nil if there is none.
    /// - Throws: if it is not a boolean.
    package func boolean(_ key: ConfigurationKey) throws(KeyFileError) -> Bool? {
        try boolean(key.name, in: key.group)
    }

    /// The list of `key`, nil if there is none.
    /// - Throws: if one of its elements is not a string.
    package func strings(_ key: ConfigurationKey) throws(KeyFileError) -> [String]? {
        try strings(key.name, in: key.group)
    }

    /// Sets the value of `key`.
    package func set(_ key: ConfigurationKey, to value: [String]) { set(key.name, in: key.group, to: value) }
    /// Sets the value of `key`.
    package func set(_ key: ConfigurationKey, to value: String) { set(key.name, in: key.group, to: value) }
    /// Sets the value of `key`.
    package func set(_ key: ConfigurationKey, to value: Int64) { set(key.name, in: key.group, to: value) }
    /// Sets the value of `key`.
    package func set(_ key: ConfigurationKey, to value: Bool) { set(key.name, in: key.group, to: value) }
    /// Takes `key` out, so that it has its default again.
    package func remove(_ key: ConfigurationKey) { removeKey(key.name, in: key.group) }
}
