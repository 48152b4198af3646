// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop
internal import Platform

/// What the sockets of clients need from the session.
@MainLoop
protocol ClientSocketsOwner: AnyObject {
    /// The connection to the bus that the clients are on.
    var connection: Connection { get }
    /// The bridge that is on the bus, which has a socket of another kind; nil while there is none.
    var presentBridge: BusName? { get }
    /// Which connections belong to one process.
    var holdings: ClientHoldings { get set }
}

extension Broker: ClientSocketsOwner {}

/// The sockets by which clients talk to the broker past the bus daemon: `Manager.Open`.
@MainLoop
final class ClientSockets {
    private unowned let owner: any ClientSocketsOwner
    /// Who has one.
    private var clients: Set<BusName> = []

    init(_ owner: any ClientSocketsOwner) { self.owner = owner }

    /// The end of a new socket for the caller, with which the broker talks by it as soon as the reply has left.
    /// - Throws: `AccessDenied` for whoever has a socket to call this by, and `LimitsExceeded`.
    func open(_ call: MethodCall) throws -> FileDescriptor {
        guard let client = call.caller.name, !call.message.isAttached else {
            throw DBusError.accessDenied(
                "There is this socket already. Call Open on the bus for another one.")
        }
        guard client != owner.presentBridge else {
            throw DBusError.accessDenied("The bridge calls PeerManager.Attach instead.")
        }
        owner.holdings.joined(client.text, process: call.caller.credentials?.processID)
        try check(client)
        let pair = try FileDescriptor.socketPair()
        let socket = AttachedSocket(pair.ours, to: client, .toClient)
        socket.onEnded = { [weak self] in _ = self?.clients.remove(client) }
        clients.insert(client)
        call.afterReply { [weak self] in self?.attach(socket) }
        return pair.theirs
    }

    private func check(_ client: BusName) throws(HandoffFailure) {
        let others = clients.subtracting([client])
        guard others.count < Quota.sockets else {
            throw .tooMany("sockets to clients", limit: Quota.sockets, advice: "Go on by the bus.")
        }
        let relatives = owner.holdings.relatives(of: client.text)
        guard others.count(where: { relatives.contains($0.text) }) < Quota.processes else {
            throw .tooMany(
                "sockets to connections of one process", limit: Quota.processes, advice: "Go on by the bus.")
        }
    }

    private func attach(_ socket: AttachedSocket) {
        // It may have become the bridge meanwhile.
        guard clients.contains(socket.name) else { return }
        owner.connection.attach(socket)
        brokerLog.debug("\(socket.name) has opened a socket.")
    }

    /// `name` has become the bridge, which attaches instead: what is for it must not be lost on a socket that ends then.
    func close(_ name: BusName) {
        guard clients.remove(name) != nil else { return }
        owner.connection.detach(name)
    }

    /// `name` has left the bus, and has no socket any more.
    func vanished(_ name: BusName) { clients.remove(name) }
}
