// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// What is known of peers: what they are called, and the way to them.
@MainLoop
protocol PeerDirectory: AnyObject {
    /// What `device` is shown as.
    func name(of device: DeviceID) -> String
    /// The bridge's object of `device`.
    /// - Throws: `ConnectionUnavailable` while there is no bridge.
    func bridgePeer(_ device: DeviceID) throws -> PeerProxy
}

/// The bridge, and what it has said of the peers that it leads to.
@MainLoop
final class KnownPeers: PeerDirectory {
    private let connection: Connection
    /// The unique name of the bridge, nil while there is none.
    var bridge: BusName?
    private var names = PeerNames()
    private var types: [DeviceID: String] = [:]
    /// The peers that there is no link with.
    private var away: Set<DeviceID> = []

    /// Nobody is known, on this connection to the bus that the bridge is on.
    init(_ connection: Connection) { self.connection = connection }

    /// Whether `name` is the bridge that is talked to.
    func isBridge(_ name: BusName?) -> Bool { name != nil && name == bridge }

    func name(of device: DeviceID) -> String {
        names.name(of: device) ?? String(device.description.prefix(8))
    }

    /// What kind of device it is, empty if that is not known.
    func type(of device: DeviceID) -> String { types[device] ?? "" }

    /// `device` is called `name`, and is of this type.
    func learn(_ device: DeviceID, name: String, type: String) {
        _ = names.name(device, name)
        types[device] = PeerText.name(type)
    }

    /// There is a link with `device`, or none.
    func linkChanged(to device: DeviceID, isConnected: Bool) {
        if isConnected { away.remove(device) } else { away.insert(device) }
    }

    /// Whether `device` is a peer that there is no link with.
    func isAway(_ device: DeviceID) -> Bool { away.contains(device) }

    /// `device` is no peer any more.
    func forget(_ device: DeviceID) {
        names.remove(device)
        types[device] = nil
        away.remove(device)
    }

    func bridgePeer(_ device: DeviceID) throws -> PeerProxy {
        guard let bridge else {
            throw HandoffFailure(
                .connectionUnavailable, "The bridge is not running. Start handoff-bridge, then try again.")
        }
        let path = try HandoffNames.bridgePeers.appending(device.description)
        return PeerProxy(RemoteObject(connection, bridge, path))
    }

    /// The bridge's object of all peers; nil if there is no bridge.
    var all: PeerProxy? {
        bridge.map { PeerProxy(RemoteObject(connection, $0, HandoffNames.bridgePeers)) }
    }
}

/// Tells of what has changed of the properties of the manager, and of what the user has chosen.
@MainLoop
struct Announcements {
    let connection: Connection
    let peers: KnownPeers

    /// Properties of the manager have changed.
    func tellSubscribers(_ names: [String]) { tellManager(names, .subscribers) }

    /// Another activity was left last, or none.
    func tellLeft() { tellManager(["LeftActivity"], subscribersAndBridge) }

    /// What the user has chosen has changed.
    func tellPreferences(_ names: [String]) { tellPreferences(names, subscribersAndBridge) }

    /// The bridge needs it whether or not it has read it.
    private var subscribersAndBridge: ChangeAudience {
        peers.bridge.map { .subscribersAnd($0) } ?? .subscribers
    }

    /// Tells the bridge alone what the user has chosen.
    func tellBridge(_ names: [String]) {
        if let bridge = peers.bridge { tellPreferences(names, .only(bridge)) }
    }

    private func tellPreferences(_ names: [String], _ audience: ChangeAudience) {
        connection.objects.propertiesChanged(
            HandoffNames.brokerPath, PreferencesBinding.description.name, names, tell: audience)
    }

    private func tellManager(_ names: [String], _ audience: ChangeAudience) {
        connection.objects.propertiesChanged(
            HandoffNames.brokerPath, ManagerBinding.description.name, names, tell: audience)
    }
}
