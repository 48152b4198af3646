// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// The sockets of a connection, at most one to each other connection of its bus.
@MainLoop
struct AttachedSockets {
    private var sockets: [BusName: AttachedSocket] = [:]
    /// In which they read.
    let turns = ReadingTurns()

    /// The socket that `message` goes by, if it does.
    /// - Throws: `Disconnected` if it would have to go by one that has ended.
    func way(of message: Message) throws(DBusError) -> AttachedSocket? {
        switch message.way {
        case .channel: return nil
        case .any:
            if sockets.isEmpty { return nil }
            return message.uniqueDestination.flatMap { sockets[$0] }
        case .socket(let number):
            guard let name = message.uniqueDestination, let socket = sockets[name], socket.number == number
            else {
                throw DBusError(.disconnected, "The socket that is to be answered by has ended.")
            }
            return socket
        }
    }

    /// The socket that `message` has come by, if that has not ended.
    func source(of message: Message) -> AttachedSocket? {
        guard case .socket(let number) = message.way, let name = message.attachedSender,
            let socket = sockets[name], socket.number == number
        else { return nil }
        return socket
    }

    /// The socket to `name`, if there is one.
    func socket(to name: BusName) -> AttachedSocket? { sockets[name] }

    /// Takes in `socket`, in place of a former one to the same name.
    mutating func add(_ socket: AttachedSocket) { sockets[socket.name] = socket }

    /// Forgets `socket`.
    /// - Returns: whether it was among them.
    mutating func remove(_ socket: AttachedSocket) -> Bool {
        guard sockets[socket.name] === socket else { return false }
        sockets[socket.name] = nil
        return true
    }

    /// Ends all of them from this side.
    mutating func release() {
        for socket in sockets.values { socket.release() }
        sockets = [:]
    }
}
