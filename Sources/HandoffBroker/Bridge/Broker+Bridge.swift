// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Calls to the bridge.
extension Broker {
    // MARK: Meeting it

    /// From now on this one is talked to, or none is.
    func setBridge(_ new: BusName?) {
        guard new != bridge else { return }
        bridge = new
        brokerLog.debug("The bridge is \(new?.text ?? "gone").")
        // A new bridge reports its peers anew, and may already have begun to if there was none before.
        if new == nil || !wasBridgeLost { peers.removeAll() }
        wasBridgeLost = false
        greetBridge()
    }

    /// The bridge has not heard anything yet, or not by this way.
    func greetBridge() {
        tellBridge(["Enabled", "DeviceName", "Port"])
        offerNews.beginAnew()
    }

    /// From now on the bridge is talked to by `socket`.
    func attach(_ socket: AttachedSocket) {
        let isAgain = attachedBridge == socket.name && bridge == socket.name
        attachedBridge = socket.name
        connection.attach(socket)
        socket.onEnded = { [weak self, name = socket.name] in self?.socketEnded(to: name) }
        brokerLog.debug("The bridge has attached\(isAgain ? " again" : "").")
        if isAgain {
            // What was on its way by the former socket may be lost.
            peers.removeAll()
            greetBridge()
        } else if presentBridge == socket.name {
            setBridge(socket.name)
        }
    }

    /// The bridge is gone, which the bus is about to say, or has ended its socket for another reason. What is asked of it
    /// meanwhile would reach nobody, so that there is none until the bus has had the time to say so.
    private func socketEnded(to name: BusName) {
        guard bridge == name else { return }
        setBridge(nil)
        wasBridgeLost = true
        MainLoop.start { [weak self] in
            // The bus may answer once before it has noticed that somebody has left, but not twice.
            for _ in 1...2 { _ = try? await self?.bus.owner(of: HandoffNames.bridge) }
            guard let self, bridge == nil, presentBridge == name else { return }
            setBridge(name)
        }
    }

    // MARK: Asking it

    /// The bridge's object of `device`.
    /// - Throws: `ConnectionUnavailable` while there is no bridge.
    func bridgePeer(_ device: DeviceID) throws -> PeerProxy {
        guard let bridge else {
            throw HandoffFailure(
                .connectionUnavailable, "The bridge is not running. Start handoff-bridge, then try again.")
        }
        let path = try HandoffNames.bridgePeers.appending(device.description)
        return PeerProxy(RemoteObject(connection, bridge, path))
    }
}
