// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// The connections of others until it is known who they are.
@MainLoop
final class Admission {
    /// How long it may take until the handshake is complete.
    static let timeout = Duration.seconds(5)
    /// How many there may be; of more, the oldest go.
    static let maximumWaiting = 64

    private struct Waiting {
        let number: Int
        let task: Task<Void, Never>
    }

    private let bridge: Bridge
    private var waiting: [Waiting] = []
    private var nextNumber = 0

    init(_ bridge: Bridge) { self.bridge = bridge }

    /// How many there are.
    var count: Int { waiting.count }

    /// Finds out who is at the other end of `socket`, and makes a link of it.
    func admit(_ socket: SocketConnection) {
        if waiting.count >= Self.maximumWaiting {
            bridge.refusals.note("More than \(Self.maximumWaiting) connections said nothing; the oldest go.")
            waiting.removeFirst().task.cancel()
        }
        nextNumber += 1
        let number = nextNumber
        let task = MainLoop.start { [weak self] in
            await self?.identify(socket)
            self?.waiting.removeAll { $0.number == number }
        }
        waiting.append(Waiting(number: number, task: task))
    }

    /// Ends all of them.
    func closeAll() {
        for one in waiting { one.task.cancel() }
        waiting = []
    }

    private func identify(_ socket: SocketConnection) async {
        let identity = bridge.identity
        socket.configureForLink()
        do {
            let transport = try await withTimeLimit(Self.timeout) {
                try await Opening.answer(socket)
                return try await TLSConnection.establish(.server, over: socket, as: identity)
            }
            guard bridge.isOn, !Task.isCancelled else { return transport.close() }
            _ = bridge.links.add(transport, .accepted(from: socket.remoteAddress))
        } catch {
            socket.close()
            if !Task.isCancelled {
                bridge.refusals.note("A connection from \(socket.remoteHost) was refused: \(error)")
            }
        }
    }
}
