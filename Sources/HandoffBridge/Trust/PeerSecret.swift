// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import Platform

/// K, the secret that two peers share: with it they recognize each other before TLS, and nobody else learns
/// anything from that (protocol.md, "Peer secret" and "Opening").
struct PeerSecret: Hashable, Sendable {
    /// How many bytes a secret has.
    static let size = 32

    /// The bytes of the secret.
    let bytes: [UInt8]

    /// The secret of these bytes; nil unless there are ``size`` of them.
    init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// The secret that a link gives to both its ends, whose TLS exporter is the same at both.
    init(exporter: [UInt8], client: DeviceID, server: DeviceID) {
        bytes = Digest.hmacSHA256(key: exporter, Array("handoff secret 1".utf8) + client.bytes + server.bytes)
    }

    /// 8 bytes that name the secret to whoever else has it.
    var id: [UInt8] { Array(Digest.sha256(Array("handoff secret id 1".utf8) + bytes).prefix(8)) }

    /// The secret of two devices that were each told the other's id by hand: whoever was told only one of the
    /// two ids cannot knock with it (protocol.md, "Opening"). It is never used for anything else.
    init(trustBetween one: DeviceID, and other: DeviceID) {
        let (smaller, larger) = one < other ? (one, other) : (other, one)
        bytes = Digest.sha256(Array("handoff trust 1".utf8) + smaller.bytes + larger.bytes)
    }

    /// What `dialler` shows with this secret at `destination`, where it was greeted.
    func knock(
        _ exchange: Knock.Exchange, by dialler: DeviceID, to destination: KnockDestination
    ) -> [UInt8] {
        let text =
            Array("handoff knock 2".utf8) + exchange.bytes + dialler.bytes + destination.bytes
        return Array(Digest.hmacSHA256(key: bytes, text).prefix(Knock.entrySize))
    }

    /// Whether two byte strings are equal, in a time that reveals nothing about where they differ.
    static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
