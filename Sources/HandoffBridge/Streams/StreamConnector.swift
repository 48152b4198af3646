// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// Brings about the connections of streams. The side that dialled the link dials them too, so that they work
/// wherever the link does, and a token tells them apart from others (protocol.md, "Streams").
@MainLoop
final class StreamConnector {
    /// A stream that the origin has agreed to.
    struct Opened: Sendable {
        let connection: TLSConnection
        let link: Link
        /// What the origin says about the document that comes over it, if one does.
        let about: DocumentDescription?
    }

    /// What the side that was dialled sends when it has seen that the certificate is right.
    private static let ready: UInt8 = 1
    /// How many connections with one peer may be before the end of their opening: fewer than the peer allows
    /// from one address.
    private static let maximumOpening = OpeningQuota.socketsOfSource - 1

    /// How long connecting may take at one of several addresses.
    private static let attemptTime = Duration.milliseconds(2400)

    private let state: BridgeState
    private let links: Links
    private let carriers: Carriers
    private var tokens = StreamTokens()
    /// The connections that are awaited, by the numbers of their tickets.
    private var arrivals: [Int: StreamArrival] = [:]
    private var turnstiles: [DeviceID: Turnstile] = [:]
    private lazy var timer = DeadlineTimer { [weak self] in self?.advance() }

    init(_ state: BridgeState, _ links: Links, _ carriers: Carriers) {
        (self.state, self.links, self.carriers) = (state, links, carriers)
    }

    // MARK: Asking for a stream

    /// Asks the origin for a stream, and makes the connection for it, or waits for that.
    func open(_ content: Stream.Content, _ id: ContinuationID, of peer: Peer) async throws -> Opened {
        guard let link = await peer.link(within: Peer.patience) else {
            throw HandoffFailure.unreachable(peer.label, "There is no link. Wait until it is connected.")
        }
        link.expectAcknowledgement()
        if link.isDialled {
            let agreed = try await ask(link, content, id, [])
            return Opened(
                connection: try await dial(link, showing: agreed.token), link: link, about: agreed.about)
        }
        let (token, arrival) = try expect(over: link)
        do {
            let about = try await ask(link, content, id, token).about
            return Opened(connection: try await arrival.connection(), link: link, about: about)
        } catch {
            arrival.resolve(.failure(error))
            throw error
        }
    }

    private func ask(
        _ link: Link, _ content: Stream.Content, _ id: ContinuationID, _ token: [UInt8]
    ) async throws -> Stream.Agreement {
        let (proxy, limit) = (LinkProxy(link.remote), content.openingTime * 2)
        var (reply, about): ([UInt8], DocumentDescription?)
        switch content {
        case .application:
            (reply, about) = (
                try await proxy.openStream(continuation: id.description, token: token, timeout: limit), nil
            )
        case .document:
            let answer = try await proxy.openDocument(
                continuation: id.description, token: token, timeout: limit)
            (reply, about) = (answer.acceptedToken, try Self.description(answer.about))
        }
        guard reply.count == (token.isEmpty ? StreamTokens.size : 0) else {
            throw HandoffFailure(
                .connectionUnavailable, "The other device answered with a token of \(reply.count) bytes.")
        }
        return Stream.Agreement(token: reply, about: about)
    }

    private static func description(_ about: [String: Value]) throws(HandoffFailure) -> DocumentDescription {
        do throws(HandoffFailure) {
            return try DocumentDescription(about)
        } catch {
            throw HandoffFailure(
                .connectionUnavailable, "The other device describes the document wrongly: \(error)")
        }
    }

    // MARK: Dialling

    /// Connects to the device at the other end of `link`, which this side has dialled: where that device says
    /// that it listens now, or else where it listened before; or by carriers, if that is how the link goes.
    func dial(_ link: Link, showing token: [UInt8]) async throws -> TLSConnection {
        let turnstile = turnstiles[link.device] ?? Turnstile(Self.maximumOpening)
        turnstiles[link.device] = turnstile
        // The handshake shows that the opening is over on the other side.
        let connection = try await turnstile.pass {
            var failure: any Error = StreamFault(
                description: "what has carried the link has ended: start it again")
            let ways = ways(of: link)
            for way in ways {
                let limit = ways.count == 1 || link.isCarried ? Deadline.streamToken : Self.attemptTime
                do {
                    return try await withTimeLimit(limit) { [self] in
                        try await dial(way, link.device, token)
                    }
                } catch {
                    if Task.isCancelled { throw error }
                    failure = error
                }
            }
            throw failure
        }
        do {
            guard try await connection.readByte() == Self.ready else {
                throw StreamFault(description: "the other device does not say that it is ready")
            }
            return connection
        } catch {
            connection.close()
            throw error
        }
    }

    /// By which ways the connection of a stream over `link` may come about.
    private func ways(of link: Link) -> [@MainLoop @Sendable () async throws -> SocketConnection] {
        if link.isCarried {
            // The one by which the link goes has shown that it can.
            let all = carriers.to(link.device)
            let proven = all.filter { $0.way == link.remoteAddress }
            return (proven + all.filter { $0.way != link.remoteAddress }).map { carrier in
                { [carriers] in try await carriers.connect(carrier) }
            }
        }
        return link.streamAddresses.map { address in { try await SocketConnection.connect(to: address) } }
    }

    private func dial(
        _ way: @MainLoop @Sendable () async throws -> SocketConnection, _ device: DeviceID, _ token: [UInt8]
    ) async throws -> TLSConnection {
        let identity = state.identity
        let socket = try await way()
        socket.configureForStream()
        try await state.opening.dialStream(socket, as: identity.device, token: token)
        return try await TLSConnection.establish(.client, over: socket, as: identity, demanding: device)
    }

    // MARK: Being dialled

    /// Expects a connection from the device at the other end of `link`.
    /// - Returns: the token that the device has to show, and the arrival to wait for.
    func expect(over link: Link) throws -> (token: [UInt8], StreamArrival) {
        let token = RandomBytes.make(StreamTokens.size)
        let ticket = try tokens.issue(token, to: link.device, over: link.number, at: .now)
        let arrival = StreamArrival { [weak self] in
            self?.tokens.revoke(ticket)
            self?.arrivals[ticket.number] = nil
            self?.updateTimer()
        }
        arrivals[ticket.number] = arrival
        updateTimer()
        return (token, arrival)
    }

    /// The stream whose token a dialler shows; nil if there is none. Showing a token uses it up.
    func claim(_ entry: [UInt8], _ exchange: Knock.Exchange) -> StreamTokens.Ticket? {
        tokens.claim(at: .now) {
            PeerSecret.areEqual(entry, Knock.streamEntry(exchange, by: $0.device, token: $0.token))
        }
    }

    /// How many connections are expected from the IP address `host`, going by the tokens that were given to
    /// devices there.
    func expectedConnections(from host: String) -> Int {
        guard !arrivals.isEmpty else { return 0 }
        return tokens.outstanding { links.current[$0]?.remoteHost == host }
    }

    /// The connection has come, from the right device.
    func arrived(_ connection: TLSConnection, for ticket: StreamTokens.Ticket) {
        guard let arrival = arrivals[ticket.number] else { return connection.close() }
        let written = withUnsafeBytes(of: Self.ready) { connection.write($0) }
        guard case .bytes(1) = written else {
            connection.close()
            return arrival.resolve(.failure(StreamFault(description: "its connection takes nothing")))
        }
        arrival.resolve(.success(connection))
    }

    /// The connection did not come from the right device, or something else went wrong with it.
    func refused(_ ticket: StreamTokens.Ticket, _ error: any Error) {
        arrivals[ticket.number]?.resolve(.failure(error))
    }

    func linkEnded(_ link: Link) { giveUp(tokens.linkEnded(link.number), "the link was lost") }

    private func advance() { giveUp(tokens.advance(to: .now), "the other device did not make it in time") }

    private func giveUp(_ tickets: [StreamTokens.Ticket], _ why: String) {
        for ticket in tickets { arrivals[ticket.number]?.resolve(.failure(StreamFault(description: why))) }
        updateTimer()
    }

    private func updateTimer() { timer.set(tokens.nextDeadline?.microseconds) }
}
