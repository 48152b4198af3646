// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@testable import HandoffBridge

extension Vectors {
    /// What is said before TLS.
    func opening() throws -> JSON {
        [
            "greetings": .list(greetings()),
            "destinations": .list(destinations()),
            "entries": .list(try entries()),
            "heads": .list(heads()),
            "knocks": .list(try knocks()),
        ]
    }

    private func destination(_ host: String) throws -> KnockDestination {
        try #require(KnockDestination(NetworkAddress(host: host, port: Self.port)))
    }

    private func greetings() -> [JSON] {
        let good = Knock.greeting(exchange.listener)
        let others = ["HANDOFF2", "handoff1", "SSH-2.0-"].map { Array($0.utf8) + exchange.listener }
        return ([good] + others).map { bytes in
            guard let challenge = try? Knock.challenge(in: bytes) else {
                return ["bytes": .bytes(bytes), "closes": true]
            }
            return ["bytes": .bytes(bytes), "S": .bytes(challenge)]
        }
    }

    private func destinations() -> [JSON] {
        let hosts = ["192.0.2.7", "2001:db8::7", "fe80::1%eth0", "::ffff:192.0.2.7", "lap.local"]
        return hosts.map { host in
            let address = NetworkAddress(host: host, port: Self.port)
            return [
                "host": .text(host), "port": .number(Self.port),
                "A": .orNull(KnockDestination(address)?.bytes),
            ]
        } + [["host": nil, "port": nil, "A": .bytes(KnockDestination.unnamed.bytes)]]
    }

    private func entries() throws -> [JSON] {
        let trust = PeerSecret(trustBetween: desk, and: lap)
        let shown: [(PeerSecret, DeviceID, KnockDestination)] = [
            (secret, desk, try destination("192.0.2.7")), (secret, lap, try destination("2001:db8::7")),
            (secret, desk, .unnamed), (trust, desk, .unnamed),
        ]
        let links: [JSON] = shown.map { secret, dialler, destination in
            [
                "kind": "link", "key": .bytes(secret.bytes), "S": .bytes(exchange.listener),
                "D": .bytes(exchange.dialler),
                "dialler": .bytes(dialler.bytes), "A": .bytes(destination.bytes),
                "entry": .bytes(secret.knock(exchange, by: dialler, to: destination)),
            ]
        }
        let token = Self.row(0xE0, 16)
        return links + [
            [
                "kind": "stream", "key": .bytes(token), "S": .bytes(exchange.listener),
                "D": .bytes(exchange.dialler),
                "dialler": .bytes(desk.bytes),
                "entry": .bytes(Knock.streamEntry(exchange, by: desk, token: token)),
                "knock": .bytes(Knock.stream(exchange, by: desk, token: token)),
            ]
        ]
    }

    /// The first bytes of knocks: of a kind, and with a number of entries.
    private func heads() -> [JSON] {
        let heads: [(kind: UInt8, count: UInt8)] = [
            (1, 1), (1, 8), (1, 9), (1, 124), (2, 1), (0, 1), (3, 1), (255, 8), (1, 0), (1, 125), (1, 255),
            (2, 0), (2, 2),
        ]
        return heads.map { kind, count in
            let bytes = [kind, count] + exchange.dialler
            guard let head = try? Knock.head(bytes) else { return ["bytes": .bytes(bytes), "closes": true] }
            return [
                "bytes": .bytes(bytes), "kind": head.kind == .link ? "link" : "stream",
                "entries": .number(head.count),
                "D": .bytes(head.challenge),
            ]
        }
    }

    /// Whole knocks, and whom a listener takes them for that has been reached at an address and knows some devices.
    private func knocks() throws -> [JSON] {
        let (here, there) = (try destination("192.0.2.7"), try destination("192.0.2.8"))
        let trust = PeerSecret(trustBetween: desk, and: lap)
        // As many as there are entries, so that none of them is random.
        let others = try (1...7).map { try HandoffBridgeTests.secret($0) }
        let announced = Knock.link(exchange, by: desk, secrets: others + [secret], to: here)
        let typed = Knock.link(exchange, by: desk, secrets: [trust] + others, to: .unnamed)
        let stranger = [Knock.Kind.link.rawValue, 1] + exchange.dialler + Self.row(0x10, 16)
        let knows = [
            (device: desk, secret: secret), (device: desk, secret: trust), (device: phone, secret: others[0]),
        ]
        let cases: [(String, [UInt8], KnockDestination, [(device: DeviceID, secret: PeerSecret)])] = [
            ("a peer, at an address that is announced", announced, here, knows),
            ("the same, passed on to another address", announced, there, knows),
            ("the same, at a device that does not know the peer", announced, here, [knows[2]]),
            ("who was entered by Trust, at an address that was typed", typed, there, knows),
            ("the same, once Trust is not valid any more", typed, there, [knows[0]]),
            ("a stranger", stranger, here, knows),
        ]
        return cases.map { name, knock, reached, known in
            let entries = Array(knock.dropFirst(Knock.headSize))
            let found = Knock.match(entries, exchange, at: [reached, .unnamed], known)
            return [
                "name": .text(name), "S": .bytes(exchange.listener), "knock": .bytes(knock),
                "reachedAt": .bytes(reached.bytes),
                "knows": .list(
                    known.map { ["id": .bytes($0.device.bytes), "key": .bytes($0.secret.bytes)] }),
                "device": .orNull(found?.bytes),
            ]
        }
    }
}
