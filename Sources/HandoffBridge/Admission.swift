// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// The connections of others until it is known who they are.
@MainLoop
final class Admission {
    /// How long the opening may take.
    static let openingTimeout = Duration.seconds(2)
    /// How long the handshake may take after it.
    static let timeout = Duration.seconds(5)
    /// How many may be before the end of their opening, in all and from one address; of more, the oldest go.
    static let (maximumOpening, maximumOfHost) = (64, 4)
    /// How many may begin in a second; more are turned away.
    static let maximumRate = 50
    /// How many strangers, and of each peer, may be behind their opening; of more, the oldest go.
    static let (maximumStrangers, maximumOfPeer) = (8, 4)

    private struct Waiting {
        let number: Int
        let host: String
        let task: Task<Void, Never>
        /// Who it is, once the opening is over.
        var claim: Opening.Claim?
    }

    private let bridge: Bridge
    private var waiting: [Waiting] = []
    private var nextNumber = 0
    private var rate = EventRate(limit: maximumRate)

    init(_ bridge: Bridge) { self.bridge = bridge }

    /// How many there are.
    var count: Int { waiting.count }

    /// Finds out who is at the other end of `socket`, and makes a link of it.
    func admit(_ socket: SocketConnection) {
        guard rate.count(at: MainLoop.now) else {
            socket.close()
            return bridge.refusals.note("More than \(Self.maximumRate) connections came in a second.")
        }
        makeRoom(Self.maximumOfHost) { $0.claim == nil && $0.host == socket.remoteHost }
        makeRoom(Self.maximumOpening) { $0.claim == nil }
        nextNumber += 1
        let number = nextNumber
        let task = MainLoop.start { [weak self] in
            await self?.identify(socket, number)
            self?.waiting.removeAll { $0.number == number }
        }
        waiting.append(Waiting(number: number, host: socket.remoteHost, task: task))
    }

    /// Ends the oldest of those for which `belongs` is true, until there is room for one more within `limit`.
    private func makeRoom(_ limit: Int, _ belongs: (Waiting) -> Bool) {
        let those = waiting.filter(belongs)
        guard those.count >= limit else { return }
        bridge.refusals.note("More than \(limit) connections did not say whose they are; the oldest go.")
        let excess = those.prefix(those.count - limit + 1)
        for one in excess { one.task.cancel() }
        waiting.removeAll { one in excess.contains { $0.number == one.number } }
    }

    /// Ends all of them.
    func closeAll() {
        for one in waiting { one.task.cancel() }
        waiting = []
    }

    private func identify(_ socket: SocketConnection, _ number: Int) async {
        socket.configureForLink()
        do {
            let claim = try await withTimeLimit(Self.openingTimeout) { [bridge] in
                try await bridge.opening.answer(
                    socket, secrets: { bridge.trust.secrets }, claimed: bridge.streams.connector.claim)
            }
            if case .stream(let ticket) = claim { return try await shake(socket, ticket, number) }
            guard claim != .stranger || bridge.welcomesStrangers else {
                throw TLSFailure("it is a stranger")
            }
            try await shake(socket, claim, number)
        } catch {
            socket.close()
            if !Task.isCancelled {
                bridge.refusals.note("A connection from \(socket.remoteHost) was refused: \(error)")
            }
        }
    }

    /// Has the other side show that it is the one that the token was given to.
    private func shake(_ socket: SocketConnection, _ ticket: StreamTokens.Ticket, _ number: Int) async throws
    {
        do {
            socket.configureForStream()
            let transport = try await handshake(socket, .stream(ticket), number)
            guard bridge.isOn, !Task.isCancelled else {
                transport.close()
                throw CancellationError()
            }
            bridge.streams.connector.arrived(transport, for: ticket)
        } catch {
            bridge.streams.connector.refused(ticket, error)
            throw error
        }
    }

    /// Has the other side show what it claims.
    private func shake(_ socket: SocketConnection, _ claim: Opening.Claim, _ number: Int) async throws {
        let limit = claim == .stranger ? Self.maximumStrangers : Self.maximumOfPeer
        makeRoom(limit) { $0.claim == claim }
        let transport = try await handshake(socket, claim, number)
        guard bridge.isOn, !Task.isCancelled else { return transport.close() }
        let link = try bridge.links.add(transport, .accepted(from: socket.remoteAddress))
        link.isFarewell = claim != .stranger && bridge.trust[link.device] == nil
    }

    private func handshake(
        _ socket: SocketConnection, _ claim: Opening.Claim, _ number: Int
    ) async throws -> TLSConnection {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else {
            throw CancellationError()
        }
        waiting[index].claim = claim
        let identity = bridge.identity
        let expected: DeviceID? =
            switch claim {
            case .device(let device): device
            case .stream(let ticket): ticket.device
            case .stranger: nil
            }
        return try await withTimeLimit(Self.timeout) {
            // A handshake blocks one of a few threads of GIO from its start, so that a few dozen connections that
            // say nothing would keep everybody else out.
            try await socket.untilReadable()
            return try await TLSConnection.establish(.server, over: socket, as: identity, demanding: expected)
        }
    }
}
