// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop
internal import Platform

extension Bridge: DiscoveryOwner {
    func sightingsChanged(_ device: DeviceID?) {
        for device in state.trust.devices { devices.update(device) }
        if let device, state.isTrusted(device) { dials.sighted(device) }
    }

    func strangersChanged() { propertiesChanged("Nearby") }
    func systemBusChanged(_ bus: Bus?) { firewall.busChanged(bus) }
    func discoveryErrorChanged() { propertiesChanged("DiscoveryError", "DiscoveryErrorName") }

    /// The machine has woken up: for the devices at the other ends, its links may have ended long ago.
    func resumed() {
        bridgeLog.debug("The machine has woken up.")
        // The machine may have slept for a long time, and may be anywhere now.
        discoverability.set(false)
        links.check(NetworkInterface.ownAddresses())
        discovery.renew()
        dials.dialAllNow()
    }
}

extension Bridge: FirewallOwner {
    var choosesPort: Bool { entrance.choosesPort }
    func firewallChanged() { propertiesChanged("Firewall") }
}

extension Bridge: AnnouncerOwner {
    var announcedName: String { discoverability.isOn ? settings.deviceName : "" }
    func listens(at host: String) -> Bool { entrance.listens(at: host) }
    func renewPort() { entrance.renewPort() }
}
