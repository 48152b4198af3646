// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient

/// That a device has listed what is open in this session, the last time, as the broker remembers it.
package struct DeviceListing: ListedEntry, Equatable, Sendable {
    package let deviceID: String
    package let deviceName: String
    /// When it did, in microseconds since the Unix epoch.
    package let time: Int64
    /// What was open then.
    package let titles: [String]

    /// The entry that these properties describe.
    package init(_ properties: [String: Value]) {
        deviceID = properties.text("DeviceId")
        deviceName = properties.text("DeviceName")
        time = properties.time("Time")
        titles = properties.texts("Titles")
    }
}
