// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// What goes over a connection before TLS, so that strangers' bytes never reach that.
@MainLoop
final class Opening {
    /// Who the dialler is, as far as that can be told before TLS shows it.
    enum Claim: Hashable {
        /// This device, or one that has its secret.
        case device(DeviceID)
        /// Somebody without a secret of ours.
        case stranger
    }

    /// The challenges of connections that are being answered: one of these, when dialling, comes from ourselves.
    private var challenges: Set<[UInt8]> = []

    /// As the side that has dialled: shows `secrets`.
    func dial(_ socket: SocketConnection, as ours: DeviceID, secrets: [PeerSecret]) async throws {
        let challenge = try Knock.challenge(in: try await socket.read(Knock.greetingSize))
        guard !challenges.contains(challenge) else {
            throw TLSFailure("it is this device itself", isOurselves: true)
        }
        try socket.write(Knock.link(challenge, by: ours, secrets: secrets))
    }

    /// As the side that was dialled: finds out which of `secrets` is shown.
    /// - Throws: if what comes is no opening, or the connection ends.
    func answer(
        _ socket: SocketConnection, secrets: () -> [(device: DeviceID, secret: PeerSecret)]
    ) async throws -> Claim {
        let challenge = RandomBytes.make(Knock.challengeSize)
        challenges.insert(challenge)
        defer { challenges.remove(challenge) }
        try socket.write(Knock.greeting(challenge))
        let (kind, count) = try Knock.head(try await socket.read(Knock.headSize))
        let entries = try await socket.read(count * Knock.entrySize)
        guard kind == .link else {
            throw Knock.Violation(description: "it wants a stream, of which none is expected")
        }
        return Knock.match(entries, challenge, secrets()).map { .device($0) } ?? .stranger
    }
}
