// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// Lets the sockets of a connection read one after another, a few messages each, so that none of them holds up another, or
/// the bus, whatever its other side writes; and no more when clients leave too much unread.
///
/// What has been read in a turn has begun to take effect when the next turn begins, so what it adds to what is unread is known
/// then.
@MainLoop
final class ReadingTurns {
    /// How many bytes the clients together leave unread.
    private(set) var unread = 0
    /// Whether they are so many that whoever leaves any is not read.
    var areCrowded: Bool { unread > Self.comfortable }

    private static let comfortable = 64 << 20
    /// How many jobs may wait before a lone message is waited for.
    private static let fewJobs = 8

    /// Those that have asked for a turn, each once.
    private var waiting: [AttachedSocket] = []
    /// Whether what has been read in the latest turn has not begun to take effect.
    private var isTaken = false
    /// Those that are not read because the clients leave too much unread.
    private var held: [UInt64: AttachedSocket] = [:]

    /// `socket` has something to read. It has its turn now, or once those before it have had theirs.
    func ask(_ socket: AttachedSocket) {
        waiting.append(socket)
        if !isTaken { giveNext() }
    }

    /// `socket` is not read before the clients leave less unread, or it does.
    func hold(_ socket: AttachedSocket) { held[socket.number] = socket }

    /// `socket` has ended.
    func forget(_ socket: AttachedSocket) { held[socket.number] = nil }

    /// So many more bytes are left unread by a client, or less.
    func unreadChanged(by count: Int) {
        let wereCrowded = areCrowded
        unread += count
        guard wereCrowded, !areCrowded, !held.isEmpty else { return }
        let waiting = held.values
        held = [:]
        MainLoop.charge(nil) { _ = MainLoop.start { for socket in waiting { socket.goOn() } } }
    }

    private func giveNext() {
        while !isTaken, !waiting.isEmpty {
            let socket = waiting.removeFirst()
            isTaken = true
            let turn = socket.takeTurn()
            if turn.hasMore { waiting.append(socket) }
            // A lone message need not be waited for, unless there are many of them.
            guard turn.hasMore || turn.messages > 1 || MainLoop.waitingJobs > Self.fewJobs else {
                isTaken = false
                continue
            }
            MainLoop.start { [weak self] in
                self?.isTaken = false
                self?.giveNext()
            }
        }
    }
}
