// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// Lets the sockets of a connection read one after another, a few messages each, so that none of them holds up another, or
/// the bus, whatever its other side writes.
///
/// What has been read in a turn has begun to take effect when the next turn begins, so what it adds to what waits to be sent
/// is known then.
@MainLoop
final class ReadingTurns {
    /// How many bytes the clients together leave unread.
    private(set) var unread = 0
    /// Whether they are so many that whoever leaves any is not read.
    var areCrowded: Bool { unread > Self.comfortable }

    private static let comfortable = 64 << 20

    /// Those that have asked for a turn, each once.
    private var waiting: [AttachedSocket] = []
    /// Whether what has been read in the latest turn has not begun to take effect.
    private var isTaken = false

    /// `socket` has something to read. It has its turn now, or once those before it have had theirs.
    func ask(_ socket: AttachedSocket) {
        waiting.append(socket)
        if !isTaken { giveNext() }
    }

    /// So many more bytes are left unread by a client, or less.
    func unreadChanged(by count: Int) { unread += count }

    private func giveNext() {
        while !isTaken, !waiting.isEmpty {
            let socket = waiting.removeFirst()
            isTaken = true
            let turn = socket.takeTurn()
            if turn.hasMore { waiting.append(socket) }
            // A lone message need not be waited for: there is at most one of each.
            guard turn.hasMore || turn.messages > 1 else {
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
