// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import Platform

/// The bus names of the daemons and of what people see of them, and where their objects are.
package enum HandoffNames {
    /// The bus name of the broker.
    package static let broker: BusName = "org.example.Handoff"
    /// The bus name of the bridge.
    package static let bridge: BusName = "org.example.Handoff.Bridge"

    /// The bus name of the agent, which shows notifications, serves the search, and is in the panel.
    package static let agent: BusName = "org.example.Handoff.Agent"
    /// What the agent is called as an application: by its desktop entry. It has this bus name too.
    package static let agentApplication = own("Agent")
    /// The bus name of the Handoff window.
    package static let settings = own("Settings")
    /// The bus name that it has while its user looks at what can be continued.
    package static let offersInView = own("Settings.Offers")
    /// The bus name that it has while its user looks at how two devices are paired.
    package static let pairingInView = own("Settings.Pairing")
    /// The bus name that it has while its user looks at the devices.
    package static let devicesInView = own("Settings.Devices")
    /// The bus name that it has while its user looks at what it continues, or has continued, of what is open at a device.
    package static let everythingInView = own("Settings.Everything")
    /// The action of the window that shows what is open at a device. Its parameter is the device's id (`s`).
    package static let everythingAction = "everything"

    /// What each adapter serves for the agent.
    package static let adapterPath: ObjectPath = "/org/example/Handoff/Adapter"

    /// The broker's root object: `Manager`, `PeerManager` and the object manager.
    package static let brokerPath: ObjectPath = "/org/example/Handoff"
    /// Above the activities of this session, each named by its id.
    package static let activities: ObjectPath = "/org/example/Handoff/activities"
    /// Above the peers' offers, each named by its device and then its id.
    package static let remote: ObjectPath = "/org/example/Handoff/remote"
    /// Above the continuations under way here, each named by its id.
    package static let continuations: ObjectPath = "/org/example/Handoff/continuations"
    /// Above what is continued by one choice of several activities, each named by an id.
    package static let continuing: ObjectPath = "/org/example/Handoff/continuing"
    /// Above the broker's objects for calls from peers, each named by its device.
    package static let peers: ObjectPath = "/org/example/Handoff/peers"

    /// The bridge's root object: `Bridge` and the object manager.
    package static let bridgePath: ObjectPath = "/org/example/Handoff/Bridge"
    /// Above the devices that the bridge knows, each named by its id.
    package static let devices: ObjectPath = "/org/example/Handoff/Bridge/devices"
    /// The bridge's object for calls to all peers; above those for calls to one, each named by its device.
    package static let bridgePeers: ObjectPath = "/org/example/Handoff/Bridge/peers"
    /// The agent's root object; what it has for search, panel and Shell is below it.
    package static let agentPath: ObjectPath = "/org/example/Handoff/Agent"
    /// The agent's item in the panel.
    package static let agentItem: ObjectPath = "/org/example/Handoff/Agent/Item"
    /// The menu of that item.
    package static let agentMenu: ObjectPath = "/org/example/Handoff/Agent/Menu"
    /// The clipboard of the desktop, for the broker.
    package static let agentClipboard: ObjectPath = "/org/example/Handoff/Agent/Clipboard"
    /// What GNOME Shell searches.
    package static let agentSearchProvider: ObjectPath = "/org/example/Handoff/Agent/SearchProvider"
    /// What KRunner searches.
    package static let agentRunner: ObjectPath = "/org/example/Handoff/Agent/Runner"
    /// The agent as an application.
    package static let agentApplicationPath = path(of: agentApplication)
    /// The Handoff window, as an application.
    package static let settingsPath = path(of: settings)

    /// The team of the applications that the adapter of this name stands for. Devices agree on it, so that it is the same
    /// whatever their distributions call the adapter.
    package static func team(_ name: String) -> String { "org.example.Handoff.\(name)" }

    /// The bus name of what has the desktop entry that ends in `name`.
    static func own(_ name: String) -> BusName { BusName(built: Vendor.id(name)) }

    /// Where the application of that name has `org.freedesktop.Application` (Desktop Entry Specification, "D-Bus Activation").
    private static func path(of application: BusName) -> ObjectPath {
        ObjectPath(built: "/" + String(application.text.map { $0 == "." ? "/" : $0 }))
    }
}
