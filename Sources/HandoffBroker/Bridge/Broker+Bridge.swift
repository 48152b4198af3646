// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Calls to the bridge.
extension Broker {
    // MARK: Meeting it

    /// The bridge has not heard anything yet, or not by this way.
    func meetBridge() {
        // A new bridge reports its peers anew.
        peers.removeAll()
        tellBridge(["Enabled", "DeviceName", "Port"])
        guard bridge != nil, let offer = activities.offered else { return }
        tellBridge(.offer(offer))
    }

    /// From now on the bridge is talked to by `socket`.
    func attach(_ socket: AttachedSocket) {
        let isAgain = attachedBridge == socket.name
        attachedBridge = socket.name
        connection.attach(socket)
        brokerLog.debug("The bridge has attached\(isAgain ? " again" : "").")
        // What was on its way by the former socket may be lost.
        if isAgain { meetBridge() }
    }

    // MARK: Telling and asking it

    /// The news for peers about what is offered here.
    enum News {
        case offer(Offer)
        case withdraw(ActivityID)
    }

    /// Calls the bridge for all peers. The calls are made in the order of the news.
    func tellBridge(_ news: News) {
        guard let bridge else { return }
        let all = PeerProxy(RemoteObject(connection, bridge, HandoffNames.bridgePeers))
        MainLoop.start {
            do {
                switch news {
                case .offer(let offer):
                    brokerLog.debug("Activity \(offer.id) is offered, revision \(offer.revision).")
                    try await all.offer(activity: offer.id.description, summary: OfferSummary.encode(offer))
                case .withdraw(let id): try await all.withdraw(activity: id.description)
                }
            } catch {
                brokerLog.debug("The bridge did not take an offer: \(DBusError.converting(error).message)")
            }
        }
    }

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
