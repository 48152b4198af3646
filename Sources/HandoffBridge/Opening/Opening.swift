// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop
internal import Platform

/// What goes over a connection before TLS, so that bytes from strangers never reach TLS.
@MainLoop
final class Opening {
    /// Who the dialler is, as far as that can be told before TLS proves it.
    enum Claim: Hashable {
        /// This device, or one that has its secret.
        case device(DeviceID)
        /// A device that has the token of a stream.
        case stream(StreamTokens.Ticket)
        /// Somebody who shows no secret that is known here.
        case stranger
    }

    /// The challenges of connections that are being answered. A dial that is greeted with one of them has
    /// reached this device itself.
    private var challenges: Set<[UInt8]> = []

    /// Does the part of the side that has dialled `destination`: shows `secrets`.
    func dial(
        _ socket: SocketConnection, as ours: DeviceID, secrets: [PeerSecret],
        to destination: KnockDestination = .unnamed
    ) async throws {
        let exchange = try await exchange(socket)
        try socket.write(Knock.link(exchange, by: ours, secrets: secrets, to: destination))
    }

    /// Does the part of the side that has dialled for a stream: shows its `token`.
    func dialStream(_ socket: SocketConnection, as ours: DeviceID, token: [UInt8]) async throws {
        let exchange = try await exchange(socket)
        try socket.write(Knock.stream(exchange, by: ours, token: token))
    }

    private func exchange(_ socket: SocketConnection) async throws -> Knock.Exchange {
        let challenge = try Knock.challenge(in: try await socket.read(Knock.greetingSize))
        guard !challenges.contains(challenge) else {
            throw TLSFailure("it is this device itself", isOurselves: true)
        }
        return Knock.Exchange(listener: challenge, dialler: RandomBytes.make(Knock.challengeSize))
    }

    /// Does the part of the side that was dialled: finds out which of `secrets` is shown, or which token.
    /// - Parameter claimed: gives the stream of a token that is shown, and uses the token up.
    /// - Throws: if what comes is no opening, the token is not valid, or the connection ends.
    func answer(
        _ socket: SocketConnection, secrets: () -> [(device: DeviceID, secret: PeerSecret)],
        claimed: (_ entry: [UInt8], _ exchange: Knock.Exchange) -> StreamTokens.Ticket?
    ) async throws -> Claim {
        let challenge = RandomBytes.make(Knock.challengeSize)
        challenges.insert(challenge)
        defer { challenges.remove(challenge) }
        try socket.write(Knock.greeting(challenge))
        let head = try Knock.head(try await socket.read(Knock.headSize))
        let entries = try await socket.read(head.count * Knock.entrySize)
        let exchange = Knock.Exchange(listener: challenge, dialler: head.challenge)
        guard head.kind == .link else {
            guard let ticket = claimed(entries, exchange) else {
                throw Knock.Violation(
                    description:
                        "it wants a stream with a token that was never given, used already, or too old")
            }
            return .stream(ticket)
        }
        let destinations = [socket.localDestination, .unnamed].compactMap { $0 }
        return Knock.match(entries, exchange, at: destinations, secrets()).map { .device($0) } ?? .stranger
    }
}
