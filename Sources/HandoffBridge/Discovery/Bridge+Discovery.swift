// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop

extension Bridge: DiscoveryOwner {
    func sightingsChanged(_ device: DeviceID?) {
        for device in state.trust.devices { devices.update(device) }
        introductions.update()
        if let device, state.isTrusted(device) { dials.sighted(device) }
    }

    func strangersChanged() { propertiesChanged("Nearby") }
    func systemBusChanged(_ bus: Bus?) {
        firewall.busChanged(bus)
        sleep.busChanged(bus)
    }
    func discoveryErrorChanged() { propertiesChanged("DiscoveryError", "DiscoveryErrorName") }
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
