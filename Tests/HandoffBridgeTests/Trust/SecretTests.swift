// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import Platform
import TestSupport
import Testing

@testable import HandoffBridge

@Suite("The opening, before TLS")
struct KnockTests {
    private let challenge = [UInt8](0..<16)

    @Test("a greeting is HANDOFF1 and sixteen bytes, and nothing else is one")
    func greeting() throws {
        let greeting = Knock.greeting(challenge)
        #expect(greeting == Array("HANDOFF1".utf8) + challenge)
        #expect(try Knock.challenge(in: greeting) == challenge)
        for bytes in [Array(greeting.dropLast()), greeting + [0], Array("SSH-2.0-OpenSSH_9.2p1 De".utf8), []]
        {
            #expect(throws: Knock.Violation.self) { try Knock.challenge(in: bytes) }
        }
    }

    @Test("a knock names its kind, how many entries follow, and sixteen random bytes, within limits")
    func head() throws {
        for count in UInt8(1)...124 {
            let head = try Knock.head([1, count] + challenge)
            #expect(head == Knock.Head(kind: .link, count: Int(count), challenge: challenge))
        }
        #expect(try Knock.head([2, 1] + challenge).kind == .stream)
        for bytes: [UInt8] in [[1, 0], [1, 125], [1, 255], [0, 1], [3, 1], [2, 2], [22, 3]] {
            #expect(throws: Knock.Violation.self) { try Knock.head(bytes + challenge) }
        }
        for bytes: [UInt8] in [[], [1], [1, 1], [1, 1] + challenge.dropLast(), [1, 1] + challenge + [0]] {
            #expect(throws: Knock.Violation.self) { try Knock.head(bytes) }
        }
    }

    private func exchange() -> Knock.Exchange {
        Knock.Exchange(listener: challenge, dialler: RandomBytes.make(Knock.challengeSize))
    }

    @Test("whoever knocks with the secret of a device is that device, and nobody else, and once only")
    func match() throws {
        let known = [
            (device: try device(1), secret: try secret(1)), (device: try device(2), secret: try secret(2)),
        ]
        let exchange = exchange()
        func match(_ knock: [UInt8], _ exchange: Knock.Exchange) -> DeviceID? {
            Knock.match(Array(knock.dropFirst(Knock.headSize)), exchange, at: [.unnamed], known)
        }
        func knock(_ number: UInt8, _ secrets: [PeerSecret], _ exchange: Knock.Exchange) throws -> [UInt8] {
            Knock.link(exchange, by: try device(number), secrets: secrets, to: .unnamed)
        }
        for number in UInt8(1)...2 {
            let heard = try knock(number, [secret(9), secret(number)], exchange)
            #expect(try match(heard, exchange) == device(number))
            let others = [
                Knock.Exchange(listener: RandomBytes.make(16), dialler: exchange.dialler),
                Knock.Exchange(listener: exchange.listener, dialler: RandomBytes.make(16)),
            ]
            for other in others { #expect(match(heard, other) == nil) }
        }
        #expect(try match(knock(1, [secret(2)], exchange), exchange) == nil)
        let stranger = try knock(1, [], exchange)
        #expect(stranger.count == 34 && match(stranger, exchange) == nil)
    }

    @Test("a knock has one of five sizes, whatever number of secrets it shows, and no entry twice")
    func sizes() throws {
        let secrets = try (UInt8(0)..<200).map { try secret($0) }
        for (shown, count) in [
            (1, 8), (8, 8), (9, 16), (31, 31), (32, 62), (63, 124), (124, 124), (200, 124),
        ] {
            let exchange = exchange()
            let knock = Knock.link(
                exchange, by: try device(1), secrets: Array(secrets.prefix(shown)), to: .unnamed)
            #expect(knock.count == 18 + count * 16 && Int(knock[1]) == count && knock[0] == 1)
            let entries = stride(from: 18, to: knock.count, by: 16).map { Array(knock[$0..<$0 + 16]) }
            #expect(Set(entries).count == count)
        }
    }

    @Test("the same greeting is never answered by the same knock")
    func freshness() throws {
        let knocks = try (0..<100).map { _ in
            Knock.link(exchange(), by: try device(1), secrets: [try secret(1)], to: .unnamed)
        }
        let pieces = knocks.flatMap { knock in
            stride(from: 2, to: knock.count, by: 16).map { Array(knock[$0..<$0 + 16]) }
        }
        #expect(Set(pieces).count == pieces.count)
    }

    @Test("a knock for an address that was announced opens no door at another, nor does one for none there")
    func destination() throws {
        let here = try #require(KnockDestination(NetworkAddress(host: "192.0.2.1", port: 45700)))
        let known = [(device: try device(1), secret: try secret(1))]
        for host in ["192.0.2.2", "fe80::1%eth0", "192.0.2.1"] {
            let exchange = exchange()
            let port: UInt16 = host == "192.0.2.1" ? 45701 : 45700
            let elsewhere = try #require(KnockDestination(NetworkAddress(host: host, port: port)))
            let knock = Knock.link(exchange, by: try device(1), secrets: [try secret(1)], to: elsewhere)
            let entries = Array(knock.dropFirst(Knock.headSize))
            #expect(Knock.match(entries, exchange, at: [here, .unnamed], known) == nil)
            #expect(try Knock.match(entries, exchange, at: [elsewhere, .unnamed], known) == device(1))
        }
        #expect(KnockDestination(NetworkAddress(host: "example.com", port: 1)) == nil)
    }

    @Test("destinations are sixteen bytes of address, IPv4 mapped, and two of port")
    func destinationBytes() throws {
        func bytes(_ host: String) -> [UInt8]? {
            KnockDestination(NetworkAddress(host: host, port: 0xB284))?.bytes
        }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        #expect(bytes("192.0.2.1") == mapped + [192, 0, 2, 1, 0xB2, 0x84])
        #expect(bytes("192.0.2.1") == bytes("::ffff:192.0.2.1"))
        #expect(bytes("fe80::1%eth0") == [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1, 0xB2, 0x84])
        #expect(KnockDestination.unnamed.bytes == [UInt8](repeating: 0, count: 18))
    }

    @Test("a secret depends on the connection and on both devices, in their roles")
    func derivation() throws {
        let exporter = [UInt8](repeating: 7, count: 32)
        let (one, other) = (try device(1), try device(2))
        let secret = PeerSecret(exporter: exporter, client: one, server: other)
        #expect(secret == PeerSecret(exporter: exporter, client: one, server: other))
        #expect(secret != PeerSecret(exporter: exporter, client: other, server: one))
        #expect(secret != PeerSecret(exporter: [UInt8](repeating: 8, count: 32), client: one, server: other))
        #expect(secret.id.count == 8 && PeerSecret(bytes: secret.bytes)?.id == secret.id)
        #expect(PeerSecret(bytes: []) == nil)
    }
}

@Suite("The secret of two peers", .serialized)
struct SecretTests {
    @MainLoop
    private func linked() async throws -> (TestDevice, TestDevice) {
        let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
        try await a.pair(with: b)
        try await eventually { Self.agree(a, b) }
        return (a, b)
    }

    /// Whether both devices have the same secret and know that they do.
    @MainLoop
    private static func agree(_ a: TestDevice, _ b: TestDevice) -> Bool {
        guard let one = a.bridge.state.trust[b.id], let other = b.bridge.state.trust[a.id] else {
            return false
        }
        return one.secret != nil && one.secret == other.secret && one.formerSecret == nil
            && other.formerSecret == nil
    }

    /// Ends the link, and waits for another.
    @MainLoop
    private func relink(_ a: TestDevice, _ b: TestDevice) async throws {
        let number = try #require(a.link(with: b)).number
        a.link(with: b)?.close("for the test")
        try await eventually { a.link(with: b).map { $0.number > number } == true && b.link(with: a) != nil }
    }

    @Test("a paired link gives both ends one secret, which later links keep")
    func kept() async throws {
        try await onLoop {
            let (a, b) = try await linked()
            let secret = a.bridge.state.trust[b.id]?.secret
            try await relink(a, b)
            try await eventually { Self.agree(a, b) }
            #expect(a.bridge.state.trust[b.id]?.secret == secret)
            #expect(![a, b].contains { $0.bridge.welcomesStranger(from: "127.0.0.1") })
        }
    }

    @Test(
        "a device that has lost the last change of the secret is known by the former one, and both agree again"
    )
    func lost() async throws {
        try await onLoop {
            let (a, b) = try await linked()
            let former = try #require(a.bridge.state.trust[b.id]?.secret)
            // This is as if a link had given a new secret, and only one side had saved it.
            for (changed, other) in [(a, b), (b, a)] {
                let new = try secret(UInt8.random(in: 0...255))
                changed.bridge.state.trust.note(other.id) { $0.agree(on: new, at: MainLoop.wallClock) }
                try await relink(a, b)
                try await eventually { Self.agree(a, b) }
                #expect(
                    a.bridge.state.trust[b.id]?.secret != former && a.bridge.state.trust[b.id]?.secret != new)
            }
        }
    }

    @Test(
        "a secret that is older than a day, or from the future, is replaced by that of the next link, on both sides"
    )
    func renewed() async throws {
        try await onLoop {
            let (a, b) = try await linked()
            for (old, other, since) in [(a, b, Int64(1)), (b, a, MainLoop.wallClock + 60_000_000)] {
                let former = try #require(a.bridge.state.trust[b.id]?.secret)
                old.bridge.state.trust.note(other.id) { entry in
                    let secret = entry.secret
                    entry = TrustEntry(other.id, source: .trust, addresses: entry.addresses, isMutual: true)
                    if let secret { entry.agree(on: secret, at: since) }
                }
                try await relink(a, b)
                try await eventually { Self.agree(a, b) && a.bridge.state.trust[b.id]?.secret != former }
                let now = MainLoop.wallClock
                for (one, other) in [(a, b), (b, a)] {
                    #expect(one.bridge.state.trust[other.id]?.isSecretOld(at: now) == false)
                }
            }
        }
    }

    @Test("the secret that a link has given is not renewed over the same link, however long that lasts")
    func longLink() async throws {
        try await onLoop {
            let (a, b) = try await linked()
            try await relink(a, b)
            let link = try #require(a.link(with: b))
            a.bridge.state.trust.note(b.id) { $0.agree(on: link.secret, at: 1) }
            #expect(a.bridge.hello(for: link).secret == link.secret.id)
        }
    }

    @Test("without the secret nobody gets a certificate, whoever it is")
    func stranger() async throws {
        try await onLoop {
            let (a, b) = try await linked()
            let address = try #require(NetworkAddress(b.address))
            for secrets in [[], [try secret(1)]] {
                let socket = try await SocketConnection.connect(to: address)
                try await Opening().dial(socket, as: a.id, secrets: secrets)
                await #expect(throws: Knock.Violation.self) { _ = try await socket.read(1) }
            }
            #expect(b.bridge.links.all(with: a.id).count == 1)
        }
    }

    @Test("the secret is no certificate: another device that has it gets no link")
    func stolen() async throws {
        try await onLoop {
            let (a, b) = try await linked()
            let address = try #require(NetworkAddress(b.address))
            let thief = try RawDevice()
            let socket = try await SocketConnection.connect(to: address)
            try await Opening().dial(socket, as: a.id, secrets: a.bridge.state.trust[b.id]?.secrets ?? [])
            // The handshake may be over on the dialler's side before the other side has checked the
            // certificate.
            _ = try? await TLSConnection.establish(.client, over: socket, as: thief.identity)
            try await letPass(.milliseconds(200))
            #expect(b.bridge.links.all(with: thief.id).isEmpty)
            #expect(a.link(with: b) != nil)
        }
    }

    @Test("who was unpaired can come again for thirty days, to be told so, and no longer")
    func tombstones() async throws {
        try await onLoop {
            let (a, b) = try await linked()
            try a.bridge.unpair(b.id)
            #expect(a.bridge.state.trust.tombstones.map(\.device) == [b.id])
            let tombstone = try #require(a.bridge.state.trust.tombstones.first)
            #expect(tombstone.isAlive(at: tombstone.since + Tombstone.life - 1))
            #expect(
                !tombstone.isAlive(at: tombstone.since + Tombstone.life)
                    && !tombstone.isAlive(at: tombstone.since - 1))
            _ = try await a.proxy.trust(deviceId: b.id.description, name: "")
            #expect(a.bridge.state.trust.tombstones.isEmpty)
        }
    }

    @Test("the trust file keeps secrets and those of devices that were unpaired, at most sixteen")
    func file() async throws {
        try await onLoop {
            let entries = try (UInt8(1)...3).map { number in
                TrustEntry(
                    try device(number), since: Int64(number), name: "Device \(number)", source: .pairing,
                    awaitsLink: number == 1,
                    secret: number > 1 ? try secret(number) : nil, secretSince: Int64(number),
                    formerSecret: number > 2 ? try secret(99) : nil)
            }
            let tombstones = try (UInt8(20)..<36).map {
                Tombstone(device: try device($0), secret: try secret($0), since: Int64($0))
            }
            let text = TrustFile.render(entries, tombstones).text
            let contents = try TrustFile.parse(try KeyFile(text: text))
            #expect(contents == TrustFile.Contents(entries: entries, tombstones: tombstones))
            for length in stride(from: 0, to: text.utf8.count - 1, by: 7) {
                let cut = String(decoding: text.utf8.prefix(length), as: UTF8.self)
                #expect(throws: (any Error).self, "cut to \(length) bytes") {
                    _ = try TrustFile.parse(try KeyFile(text: cut))
                }
            }
            for damage in ["Secret=xyz", "Secret=\(String(repeating: "0", count: 63))"] {
                let file = try KeyFile(
                    text: text.replacing("Secret=\(String(repeating: "02", count: 32))", with: damage))
                #expect(throws: TrustFile.Damage.self) { _ = try TrustFile.parse(file) }
            }
        }
    }
}
