// SPDX-License-Identifier: LGPL-2.1-or-later
public import HandoffCore
public import Platform

/// A key of `handoff.conf` (handoff.conf(5)), in its group.
public struct ConfigurationKey: Sendable {
    /// The group.
    public let group: String
    /// The name in the group.
    public let name: String

    /// Whether Handoff is on.
    public static let enabled = ConfigurationKey(group: "Handoff", name: "Enabled")
    /// Whether offers are shown that nothing here can continue.
    public static let showsUnhandled = ConfigurationKey(group: "Handoff", name: "ShowUnhandledOffers")
    /// What peers call this device.
    public static let deviceName = ConfigurationKey(group: "Device", name: "Name")
    /// Where the bridge listens.
    public static let port = ConfigurationKey(group: "Network", name: "Port")
    /// When there is a notification for offers.
    public static let notifiesOffers = ConfigurationKey(group: "Notifications", name: "Offers")
    /// Whether there is a notification when something was continued elsewhere.
    public static let notifiesContinued = ConfigurationKey(group: "Notifications", name: "Continued")
    /// The applications that are kept out.
    public static let excludedApplications = ConfigurationKey(group: "Handoff", name: "ExcludedApplications")
    /// The adapters that are switched off.
    public static let disabledAdapters = ConfigurationKey(group: "Adapters", name: "Disabled")
    /// Where documents that come over are put.
    public static let documentsFolder = ConfigurationKey(group: "Documents", name: "Folder")
    /// The application that the user has chosen for activities of `type`.
    public static func application(for type: ActivityType) -> ConfigurationKey {
        ConfigurationKey(group: applications, name: type.key)
    }
    /// The group of the applications that the user has chosen.
    public static let applications = "Applications"

    /// Where it stands, for people.
    public var place: String { "[\(group)], \(name)" }
}

extension KeyFile {
    /// The value of `key`, nil if there is none.
    /// - Throws: if it is not a string.
    public func string(_ key: ConfigurationKey) throws(KeyFileError) -> String? {
        try string(key.name, in: key.group)
    }

    /// The value of `key`, nil if there is none.
    /// - Throws: if it is not an integer.
    public func integer(_ key: ConfigurationKey) throws(KeyFileError) -> Int64? {
        try integer(key.name, in: key.group)
    }

    /// The value of `key`, nil if there is none.
    /// - Throws: if it is not a boolean.
    public func boolean(_ key: ConfigurationKey) throws(KeyFileError) -> Bool? {
        try boolean(key.name, in: key.group)
    }

    /// The list of `key`, nil if there is none.
    /// - Throws: if one of its elements is not a string.
    public func strings(_ key: ConfigurationKey) throws(KeyFileError) -> [String]? {
        try strings(key.name, in: key.group)
    }

    /// Sets the value of `key`.
    public func set(_ key: ConfigurationKey, to value: [String]) { set(key.name, in: key.group, to: value) }
    /// Sets the value of `key`.
    public func set(_ key: ConfigurationKey, to value: String) { set(key.name, in: key.group, to: value) }
    /// Sets the value of `key`.
    public func set(_ key: ConfigurationKey, to value: Int64) { set(key.name, in: key.group, to: value) }
    /// Sets the value of `key`.
    public func set(_ key: ConfigurationKey, to value: Bool) { set(key.name, in: key.group, to: value) }
    /// Takes `key` out, so that it has its default again.
    public func remove(_ key: ConfigurationKey) { removeKey(key.name, in: key.group) }
}
