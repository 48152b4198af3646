// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import MainLoop

/// What the connections that others make need from their surroundings.
@MainLoop
protocol AdmissionOwner: AnyObject {
    /// Whether a peer was last reached at `source`, or announces that it is there.
    func mayBePeer(at source: String) -> Bool
    /// Whether a connection from the IP address `host` is accepted if its device shows no secret that is
    /// known here.
    func welcomesStranger(from host: String) -> Bool
    /// - Throws: if `device` has been barred, for people.
    func checkBar(_ device: DeviceID) throws
    /// A device has proved who it is: a link is to be made of its connection from `address`, and it has
    /// `time` to say Hello. `isFarewell` says that it is let in only to be told that it is no longer a peer.
    /// - Throws: if no link can be made; then the connection is closed.
    func admitted(
        _ transport: TLSConnection, from address: String, helloWithin time: Duration, isFarewell: Bool) throws
    /// How many connections for streams are expected from the IP address `host`.
    func expectedStreams(from host: String) -> Int
    /// The stream whose token a dialler shows; nil if there is none. Showing a token uses it up.
    func claimStream(_ entry: [UInt8], _ exchange: Knock.Exchange) -> StreamTokens.Ticket?
    /// The connection for a stream has come, from the right device.
    func streamArrived(_ transport: TLSConnection, for ticket: StreamTokens.Ticket)
    /// The connection for a stream did not come from the right device, or something else went wrong with it.
    func streamRefused(_ ticket: StreamTokens.Ticket, _ error: any Error)
}

/// The connections that others make, until it is known who they are.
@MainLoop
final class Admission {
    /// How long the opening may take.
    static let openingTimeout = Duration.seconds(2)
    /// How long the handshake may take after the opening.
    static let timeout = Duration.seconds(5)
    /// How long a stranger may take for everything up to the end of Hello, including the wait for its turn.
    static let strangersTimeout = Duration.seconds(10)
    /// How many connections of each peer may be past their opening; if there are more, the oldest go.
    static let maximumOfPeer = 4
    /// How many connections of each peer may come in a second.
    static let rateOfPeer = 5
    /// How often a device that is no longer a peer may come within this time.
    private static let (maximumFarewells, farewellTime) = (3, Duration.seconds(15))
    /// How many handshakes of one peer, and of strangers, may be under way.
    private static let (handshakesOfPeer, handshakesOfStrangers) = (3, 2)
    /// For how many devices it is remembered how often they came.
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

    private let state: BridgeState
    private let owner: any AdmissionOwner
    private var waiting: [Int: Waiting] = [:]
    private var quota = OpeningQuota()
    private var strangers = StrangerQueue()
    private var peerRates: [DeviceID: EventRate] = [:]
    /// How often each device that is no longer a peer comes to be told so.
    private var farewells: [DeviceID: EventRate] = [:]
    /// Limits the handshakes under way of each peer, and of all strangers together: each one takes a thread
    /// of GIO for as long as the other side likes.
    private var turnstiles: [DeviceID?: Turnstile] = [:]
    private lazy var timer = DeadlineTimer { [weak self] in self?.beginTurns() }

    init(_ state: BridgeState, _ owner: any AdmissionOwner) { (self.state, self.owner) = (state, owner) }

    /// Finds out who is at the other end of `socket`, and makes a link or a stream of it.
    /// - Returns: why it is refused at once; nil if it is not.
    @discardableResult
    func admit(_ socket: SocketConnection) -> String? {
        let source = NetworkSource.name(of: socket.remoteHost)
        let tokens = owner.expectedStreams(from: socket.remoteHost)
        let decision = quota.arrived(from: source, extra: tokens, at: .now) {
            owner.mayBePeer(at: source)
        }
        switch decision {
        case .refuseSource:
            return refuse(socket, "More connections than allowed come from \(source).")
        case .refuseAll:
            return refuse(socket, "More than \(OpeningQuota.openings) connections came in a second.")
        case .admit(let number, let dropped):
            if let dropped {
                drop(dropped)
                state.refusals.note("Too many connections did not say whose they are; the oldest go.")
            }
            waiting[number] = Waiting(number: number, socket: socket, source: source, since: .now)
            let task = MainLoop.start { [weak self] in
                await self?.identify(socket, number)
                self?.forget(number)
            }
            waiting[number]?.task = task
            return nil
        }
    }

    private func refuse(_ socket: SocketConnection, _ why: String) -> String {
        socket.close()
        state.refusals.note(why)
        return why
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

    /// Ends all these connections.
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
                try await state.opening.answer(
                    socket, secrets: { state.trust.knockSecrets(as: state.ownID) },
                    claimed: { self.claimed(number, $0, $1) })
            }
            // A connection that was given up while it was being read no longer belongs to anybody.
            guard waiting[number] != nil else {
                if case .stream(let ticket) = claim {
                    owner.streamRefused(ticket, CancellationError())
                }
                throw CancellationError()
            }
            waiting[number]?.claim = claim
            try await goOn(socket, number, claim)
        } catch {
            socket.close()
            if !Task.isCancelled, !(error is CancellationError) {
                state.refusals.note("A connection from \(socket.remoteHost) was refused: \(error)")
            }
        }
    }

    private func goOn(_ socket: SocketConnection, _ number: Int, _ claim: Opening.Claim) async throws {
        switch claim {
        case .stream(let ticket): try await shake(socket, ticket)
        case .device(let device):
            if !state.isTrusted(device), !countFarewell(device) {
                // It has been told often enough, or could have been: from now on it is a stranger.
                quota.ended(number)
                return try await shakeStranger(socket, number)
            }
            guard countArrival(device) else {
                quota.ended(number)
                throw TLSFailure("\(state.label(of: device)) comes too often")
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
        return peerRates[device, default: EventRate(limit: Self.rateOfPeer)].count(at: .now)
    }

    private func countFarewell(_ device: DeviceID) -> Bool {
        if farewells.count > Self.maximumRemembered { farewells = [:] }
        return farewells[device, default: EventRate(limit: Self.maximumFarewells, period: Self.farewellTime)]
            .count(at: .now)
    }

    /// The stream whose token a connection shows. From then on the connection does not count as a stranger's,
    /// since its token is used up and so one connection fewer is expected from its source.
    private func claimed(
        _ number: Int, _ entry: [UInt8], _ exchange: Knock.Exchange
    ) -> StreamTokens.Ticket? {
        guard let ticket = owner.claimStream(entry, exchange) else { return nil }
        quota.matched(number)
        return ticket
    }

    // MARK: Handshakes

    /// Has the other side prove that it is the device that the token was given to.
    private func shake(_ socket: SocketConnection, _ ticket: StreamTokens.Ticket) async throws {
        do {
            socket.configureForStream()
            let transport = try await handshake(socket, expecting: ticket.device)
            guard state.isOn, !Task.isCancelled else {
                transport.close()
                throw CancellationError()
            }
            owner.streamArrived(transport, for: ticket)
        } catch {
            owner.streamRefused(ticket, error)
            throw error
        }
    }

    /// Has the other side prove that it is `device`, as it claims.
    private func shake(_ socket: SocketConnection, _ device: DeviceID, _ claim: Opening.Claim) async throws {
        try owner.checkBar(device)
        let those = waiting.values.filter { $0.claim == claim }.sorted { $0.number < $1.number }
        for one in those.dropLast(Self.maximumOfPeer) { drop(one.number) }
        let transport = try await handshake(socket, expecting: device)
        guard state.isOn, !Task.isCancelled else { return transport.close() }
        try owner.admitted(
            transport, from: socket.remoteAddress, helloWithin: Link.helloTimeout,
            isFarewell: !state.isTrusted(device))
    }

    /// Has a stranger, who shows no secret that is known, prove who it is, if strangers are welcome.
    private func shakeStranger(_ socket: SocketConnection, _ number: Int) async throws {
        guard owner.welcomesStranger(from: socket.remoteHost) else { throw TLSFailure("it is a stranger") }
        try await awaitTurn(number)
        let left = try timeLeft(number)
        let transport = try await withTimeLimit(min(left, Self.timeout)) { [self] in
            try await handshake(socket, expecting: nil)
        }
        let rest = try? timeLeft(number)
        guard state.isOn, !Task.isCancelled, let rest, owner.welcomesStranger(from: socket.remoteHost)
        else {
            return transport.close()
        }
        try owner.admitted(
            transport, from: socket.remoteAddress, helloWithin: min(rest, Link.helloTimeout),
            isFarewell: false)
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
        let identity = state.identity
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
            state.refusals.note("Too many strangers came at a time; the oldest go.")
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
        timer.set(strangers.nextDeadline(at: .now)?.microseconds)
    }
}
