// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Finds out which bridge is talked to: it is on the bus, and perhaps attached.
@MainLoop
final class BridgePresence {
    private let bus: Bus
    private let peers: KnownPeers
    private var watch: OwnerWatch?
    /// The bridge that is on the bus, which may not answer.
    private var present: BusName?
    /// The bridge that has attached last.
    private var attached: BusName?
    /// Whether there is no bridge because its socket has ended, and its peers are forgotten already.
    private var wasLost = false
    /// All that was known of peers is gone.
    var onPeersLost: @MainLoop () -> Void = {}
    /// There is another bridge, or none, or another way to it: it has not heard anything yet.
    var onChange: @MainLoop () -> Void = {}

    /// Tells `peers` which bridge there is.
    init(_ bus: Bus, _ peers: KnownPeers) { (self.bus, self.peers) = (bus, peers) }

    /// Watches the bus for bridges.
    func begin() {
        watch = OwnerWatch(bus, HandoffNames.bridge, log: brokerLog) { [weak self] in self?.changed($0) }
    }

    private func changed(_ owner: BusName?) {
        present = owner
        if let attached, attached != owner {
            bus.connection.detach(attached)
            self.attached = nil
        }
        set(owner)
    }

    /// From now on this one is talked to, or none is.
    private func set(_ new: BusName?) {
        guard new != peers.bridge else { return }
        peers.bridge = new
        brokerLog.debug("The bridge is \(new?.text ?? "gone").")
        // A new bridge reports its peers anew, and may already have begun to if there was none before.
        if new == nil || !wasLost { onPeersLost() }
        wasLost = false
        onChange()
    }

    /// From now on the bridge is talked to by `socket`.
    func attach(_ socket: AttachedSocket) {
        let isAgain = attached == socket.name && peers.bridge == socket.name
        attached = socket.name
        bus.connection.attach(socket)
        socket.onEnded = { [weak self, name = socket.name] in self?.socketEnded(to: name) }
        brokerLog.debug("The bridge has attached\(isAgain ? " again" : "").")
        if isAgain {
            // What was on its way by the former socket may be lost.
            onPeersLost()
            onChange()
        } else if present == socket.name {
            set(socket.name)
        }
    }

    /// The bridge is gone, which the bus is about to say, or has ended its socket for another reason. What is asked of it
    /// meanwhile would reach nobody, so that there is none until the bus has had the time to say so.
    private func socketEnded(to name: BusName) {
        guard peers.bridge == name else { return }
        set(nil)
        wasLost = true
        MainLoop.start { [weak self] in
            // The bus may answer once before it has noticed that somebody has left, but not twice.
            for _ in 1...2 { _ = try? await self?.bus.owner(of: HandoffNames.bridge) }
            guard let self, peers.bridge == nil, present == name else { return }
            set(name)
        }
    }
}
