// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient

/// What the bridge says.
package struct BridgeStatus: Equatable, Sendable {
    /// The version of its interfaces.
    package var version = 0
    /// 64 hexadecimal digits.
    package var deviceID = ""
    /// What this device is called on others.
    package var deviceName = ""
    /// The kind of this device, by the chassis names of the machine; may be empty.
    package var deviceType = ""
    /// The port that it listens on; 0 if it does not listen.
    package var port = 0
    /// Whether devices that are not paired can find this one.
    package var isDiscoverable = false
    /// Why devices are not found automatically; empty if they are found, or are not supposed to be.
    package var discoveryError = ""
    /// The name of that error; empty if there is none, or the bridge does not tell.
    package var discoveryErrorName = ""
    /// The firewall that keeps other devices out, or may do so; nil if none is known to.
    package var firewall: FirewallStatus?
    /// The devices on the same networks that let themselves be discovered and are not paired.
    package var nearby: [NearbyDevice] = []
    /// The devices whose users have ended the pairing with this one, and that were not paired since; the latest last.
    package var endedPairings: [EndedPairing] = []
    /// The devices that it knows: peers first, by name.
    package var devices: [KnownDevice] = []

    /// A bridge that says nothing.
    package init() {}

    /// What a bridge says that shows `objects`, and has these `properties` as `Bridge`.
    package init(objects: ManagedObjects, _ properties: [String: Value]) {
        version = properties.number("Version")
        deviceID = properties.text("DeviceId")
        deviceName = properties.text("DeviceName")
        deviceType = properties.text("DeviceType")
        port = properties.number("Port")
        isDiscoverable = properties.flag("Discoverable")
        discoveryError = properties.text("DiscoveryError")
        discoveryErrorName = properties.text("DiscoveryErrorName")
        firewall = FirewallStatus(properties["Firewall"])
        nearby = NearbyDevice.all(in: properties["Nearby"])
        endedPairings = EndedPairing.all(in: properties["EndedPairings"])
        devices = KnownDevice.all(in: objects)
    }
}
