// SPDX-License-Identifier: LGPL-2.1-or-later
public import DBus

/// The bus names of the daemons and of what people see of them, and where their objects are.
public enum HandoffNames {
    /// The bus name of the broker.
    public static let broker: BusName = "org.example.Handoff"
    /// The bus name of the bridge.
    public static let bridge: BusName = "org.example.Handoff.Bridge"

    /// The bus name of the agent, which shows notifications, serves the search, and is in the panel.
    public static let agent: BusName = "org.example.Handoff.Agent"
    /// The bus name of the Handoff window.
    public static let settings: BusName = "org.example.Handoff.Settings"

    /// What each adapter serves for the agent.
    public static let adapterPath: ObjectPath = "/org/example/Handoff/Adapter"

    /// The broker's root object: `Manager`, `PeerManager` and the object manager.
    public static let brokerPath: ObjectPath = "/org/example/Handoff"
    /// Above the activities of this session, each named by its id.
    public static let activities: ObjectPath = "/org/example/Handoff/activities"
    /// Above the peers' offers, each named by its device and then its id.
    public static let remote: ObjectPath = "/org/example/Handoff/remote"
    /// Above the continuations under way here, each named by its id.
    public static let continuations: ObjectPath = "/org/example/Handoff/continuations"
    /// Above the broker's objects for calls from peers, each named by its device.
    public static let peers: ObjectPath = "/org/example/Handoff/peers"

    /// The bridge's root object: `Bridge` and the object manager.
    public static let bridgePath: ObjectPath = "/org/example/Handoff/Bridge"
    /// Above the devices that the bridge knows, each named by its id.
    public static let devices: ObjectPath = "/org/example/Handoff/Bridge/devices"
    /// The bridge's object for calls to all peers; above those for calls to one, each named by its device.
    public static let bridgePeers: ObjectPath = "/org/example/Handoff/Bridge/peers"
    /// The agent's root object; what it has for search, panel and Shell is below it.
    public static let agentPath: ObjectPath = "/org/example/Handoff/Agent"
    /// The agent's item in the panel.
    public static let agentItem: ObjectPath = "/org/example/Handoff/Agent/Item"
    /// The menu of that item.
    public static let agentMenu: ObjectPath = "/org/example/Handoff/Agent/Menu"
    /// What GNOME Shell searches.
    public static let agentSearchProvider: ObjectPath = "/org/example/Handoff/Agent/SearchProvider"
    /// What KRunner searches.
    public static let agentRunner: ObjectPath = "/org/example/Handoff/Agent/Runner"
    /// The Handoff window, as an application.
    public static let settingsPath: ObjectPath = "/org/example/Handoff/Settings"
}
