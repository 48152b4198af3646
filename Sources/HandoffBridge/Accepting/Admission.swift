// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffDaemon
internal import MainLoop

/// The connections of others until it is known who they are.
@MainLoop
final class Admission {
    /// How long the opening may take.
    static let openingTimeout = Duration.seconds(2)
    /// How long the handshake may take after it.
    static let timeout = Duration.seconds(5)
    /// How long a stranger may take for all of it, up to the end of Hello, its turn included.
    static let strangersTimeout = Duration.seconds(10)
    /// How many of each peer may be behind their opening; of more, the oldest go.
    static let maximumOfPeer = 4
    /// How many of each peer may come in a second.
    static let rateOfPeer = 5
    /// How often a device may come that is a peer no longer, within this time in microseconds.
    private static let (maximumFarewells, farewellTime) = (3, Int64(15_000_000))
    /// How many handshakes of one peer, and of strangers, may be under way.
    private static let (handshakesOfPeer, handshakesOfStrangers) = (3, 2)
    /// How many devices are remembered by what they have done.
    private static let maximumRemembered = 2 * (TrustStore.maximumPeers + Tombstone.maximum)

    private struct Waiting {
        let number: Int
        let socket: SocketConnection
        let source: String
        let since: Instant
        var task: Task<Void, Never>?
        /// Who it is, once the opening is over.
        var claim: Opening.Claim?
        /// Continues a stranger whose turn it is.
        var turn: CheckedContinuation<Void, any Error>?
    }

    private let bridge: Bridge
    private var waiting: [Int: Waiting] = [:]
    private var quota = OpeningQuota()
    private var strangers = StrangerQueue()
    private var peerRates: [DeviceID: EventRate] = [:]
    /// How often each device comes that is a peer no longer, to be told so.
    private var farewells: [DeviceID: EventRate] = [:]
    /// Of each peer, and of all strangers, so many handshakes are under way at most: each takes a thread of GIO for as long as
    /// the other side likes.
    private var turnstiles: [DeviceID?: Turnstile] = [:]
    private lazy var timer = DeadlineTimer { [weak self] in self?.beginTurns() }

    init(_ bridge: Bridge) { self.bridge = bridge }

    /// Finds out who is at the other end of `socket`, and makes a link of it.
    func admit(_ socket: SocketConnection) {
        let source = NetworkSource.name(of: socket.remoteHost)
        let tokens = bridge.streams.connector.expectedConnections(from: socket.remoteHost)
        let decision = quota.arrived(from: source, extra: tokens, at: .now) {
            bridge.places.mayBePeer(at: source)
        }
        switch decision {
        case .refuseSource: refuse(socket, "More connections than allowed come from \(source).")
        case .refuseAll: refuse(socket, "More than \(OpeningQuota.openings) connections came in a second.")
        case .admit(let number, let dropped):
            if let dropped {
                drop(dropped)
                bridge.refusals.note("Too many connections did not say whose they are; the oldest go.")
            }
            waiting[number] = Waiting(number: number, socket: socket, source: source, since: .now)
            let task = MainLoop.start { [weak self] in
                await self?.identify(socket, number)
                self?.forget(number)
            }
            waiting[number]?.task = task
        }
    }

    private func refuse(_ socket: SocketConnection, _ why: String) {
        socket.close()
        bridge.refusals.note(why)
    }

    private func drop(_ number: Int) {
        waiting[number]?.task?.cancel()
        forget(number)
    }

    private func forget(_ number: Int) {
        quota.ended(number)
        strangers.ended(number)
        guard let former = waiting.removeValue(forKey: number) else { return }
        former.turn?.resume(throwing: CancellationError())
        beginTurns()
    }

    /// Ends all of them.
    func closeAll() {
        for one in waiting.values {
            one.task?.cancel()
            one.turn?.resume(throwing: CancellationError())
        }
        waiting = [:]
        quota.endAll()
        strangers.endAll()
        timer.set(nil)
    }

    private func identify(_ socket: SocketConnection, _ number: Int) async {
        socket.configureForLink()
        do {
            let claim = try await withTimeLimit(Self.openingTimeout) { [self] in
                try await bridge.opening.answer(
                    socket, secrets: { bridge.trust.knockSecrets(as: bridge.identity.device) },
                    claimed: { self.claimed(number, $0, $1) })
            }
            // A connection that was given up while it was being read is nobody's any more.
            guard waiting[number] != nil else {
                if case .stream(let ticket) = claim {
                    bridge.streams.connector.refused(ticket, CancellationError())
                }
                throw CancellationError()
            }
            waiting[number]?.claim = claim
            try await goOn(socket, number, claim)
        } catch {
            socket.close()
            if !Task.isCancelled, !(error is CancellationError) {
                bridge.refusals.note("A connection from \(socket.remoteHost) was refused: \(error)")
            }
        }
    }

    private func goOn(_ socket: SocketConnection, _ number: Int, _ claim: Opening.Claim) async throws {
        switch claim {
        case .stream(let ticket): try await shake(socket, ticket)
        case .device(let device):
            if bridge.trust[device] == nil, !countFarewell(device) {
                // It has been told, or could have been: beyond that it is nobody.
                quota.ended(number)
                return try await shakeStranger(socket, number)
            }
            guard countArrival(device) else {
                quota.ended(number)
                throw TLSFailure("\(bridge.devices.label(of: device)) comes too often")
            }
            quota.matched(number)
            try await shake(socket, device, claim)
        case .stranger:
            quota.ended(number)
            try await shakeStranger(socket, number)
        }
    }

    private func countArrival(_ device: DeviceID) -> Bool {
        if peerRates.count > Self.maximumRemembered { peerRates = [:] }
        return peerRates[device, default: EventRate(limit: Self.rateOfPeer)].count(at: MainLoop.now)
    }

    private func countFarewell(_ device: DeviceID) -> Bool {
        if farewells.count > Self.maximumRemembered { farewells = [:] }
        return farewells[device, default: EventRate(limit: Self.maximumFarewells, period: Self.farewellTime)]
            .count(at: MainLoop.now)
    }

    /// The stream whose token a connection shows, which does not count as a stranger's from then on: with the token that is
    /// used up, one fewer is expected of its source.
    private func claimed(
        _ number: Int, _ entry: [UInt8], _ exchange: Knock.Exchange
    ) -> StreamTokens.Ticket? {
        guard let ticket = bridge.streams.connector.claim(entry, exchange) else { return nil }
        quota.matched(number)
        return ticket
    }

    // MARK: Handshakes

    /// Has the other side show that it is the one that the token was given to.
    private func shake(_ socket: SocketConnection, _ ticket: StreamTokens.Ticket) async throws {
        do {
            socket.configureForStream()
            let transport = try await handshake(socket, expecting: ticket.device)
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

    /// Has the other side show that it is `device`, as it claims.
    private func shake(_ socket: SocketConnection, _ device: DeviceID, _ claim: Opening.Claim) async throws {
        try bridge.links.checkBar(device)
        let those = waiting.values.filter { $0.claim == claim }.sorted { $0.number < $1.number }
        for one in those.dropLast(Self.maximumOfPeer) { drop(one.number) }
        let transport = try await handshake(socket, expecting: device)
        guard bridge.isOn, !Task.isCancelled else { return transport.close() }
        _ = try bridge.links.add(
            transport, .accepted(from: socket.remoteAddress), isFarewell: bridge.trust[device] == nil)
    }

    /// The same for somebody who shows nothing that is known, if such are welcome.
    private func shakeStranger(_ socket: SocketConnection, _ number: Int) async throws {
        guard bridge.welcomesStranger(from: socket.remoteHost) else { throw TLSFailure("it is a stranger") }
        try await awaitTurn(number)
        let left = try timeLeft(number)
        let transport = try await withTimeLimit(min(left, Self.timeout)) { [self] in
            try await handshake(socket, expecting: nil)
        }
        let rest = try? timeLeft(number)
        guard bridge.isOn, !Task.isCancelled, let rest, bridge.welcomesStranger(from: socket.remoteHost)
        else {
            return transport.close()
        }
        _ = try bridge.links.add(
            transport, .accepted(from: socket.remoteAddress), helloWithin: min(rest, Link.helloTimeout))
    }

    private func timeLeft(_ number: Int) throws -> Duration {
        guard let since = waiting[number]?.since else { throw CancellationError() }
        let left = Self.strangersTimeout - since.duration(to: .now)
        guard left > .zero else { throw TLSFailure("it took too long") }
        return left
    }

    private func handshake(
        _ socket: SocketConnection, expecting device: DeviceID?
    ) async throws -> TLSConnection {
        let identity = bridge.identity
        let turnstile = turnstile(for: device)
        return try await withTimeLimit(Self.timeout) {
            // A handshake blocks one of a few threads of GIO from its start, so that a few dozen connections that
            // say nothing would keep everybody else out.
            try await socket.untilReadable()
            return try await turnstile.pass {
                try await TLSConnection.establish(.server, over: socket, as: identity, demanding: device)
            }
        }
    }

    private func turnstile(for device: DeviceID?) -> Turnstile {
        if let known = turnstiles[device] { return known }
        if turnstiles.count > Self.maximumRemembered { turnstiles = turnstiles.filter { $0.value.isBusy } }
        let new = Turnstile(device == nil ? Self.handshakesOfStrangers : Self.handshakesOfPeer)
        turnstiles[device] = new
        return new
    }

    // MARK: Strangers' turns

    /// Returns when a stranger's handshake may begin: it costs much more than what came before.
    private func awaitTurn(_ number: Int) async throws {
        guard let source = waiting[number]?.source else { throw CancellationError() }
        if let dropped = strangers.arrived(number, from: source) {
            bridge.refusals.note("Too many strangers came at a time; the oldest go.")
            drop(dropped)
        }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            guard waiting[number] != nil else { return continuation.resume(throwing: CancellationError()) }
            waiting[number]?.turn = continuation
            beginTurns()
        }
    }

    private func beginTurns() {
        while let number = strangers.next(at: .now) {
            let turn = waiting[number]?.turn
            waiting[number]?.turn = nil
            turn?.resume()
        }
        timer.set(strangers.nextDeadline?.microseconds)
    }
}
