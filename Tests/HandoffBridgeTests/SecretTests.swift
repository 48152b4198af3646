// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
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

    @Test("a knock names its kind and how many entries follow, within limits")
    func head() throws {
        for count in UInt8(1)...62 { #expect(try Knock.head([1, count]).count == Int(count)) }
        #expect(try Knock.head([2, 1]).kind == .stream)
        for bytes: [UInt8] in [
            [1, 0], [1, 63], [1, 255], [0, 1], [3, 1], [2, 2], [22, 3], [1], [], [1, 1, 1],
        ] {
            #expect(throws: Knock.Violation.self) { try Knock.head(bytes) }
        }
    }

    @Test("whoever knocks with the secret of a device is that device, and nobody else")
    func match() throws {
        let known = [
            (device: try device(1), secret: try secret(1)), (device: try device(2), secret: try secret(2)),
        ]
        func match(_ knock: [UInt8], _ challenge: [UInt8]) -> DeviceID? {
            Knock.match(Array(knock.dropFirst(Knock.headSize)), challenge, known)
        }
        for number in UInt8(1)...2 {
            let knock = Knock.link(
                challenge, by: try device(number), secrets: [try secret(9), try secret(number)])
            #expect(try match(knock, challenge) == device(number))
            // Of use once: whoever has heard it is greeted by other bytes.
            #expect(match(knock, RandomBytes.make(16)) == nil)
        }
        #expect(try match(Knock.link(challenge, by: device(1), secrets: [secret(2)]), challenge) == nil)
        let stranger = Knock.link(challenge, by: try device(1), secrets: [])
        #expect(stranger.count == 18 && match(stranger, challenge) == nil)
        let many = try (UInt8(0)..<100).map { try secret($0) }
        #expect(Knock.link(challenge, by: try device(1), secrets: many).count == 2 + 62 * 16)
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

    /// Whether both have the same secret and have seen that.
    @MainLoop
    private static func agree(_ a: TestDevice, _ b: TestDevice) -> Bool {
        guard let one = a.bridge.trust[b.id], let other = b.bridge.trust[a.id] else { return false }
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
            let secret = a.bridge.trust[b.id]?.secret
            try await relink(a, b)
            try await eventually { Self.agree(a, b) }
            #expect(a.bridge.trust[b.id]?.secret == secret)
            #expect(!a.bridge.welcomesStrangers && !b.bridge.welcomesStrangers)
        }
    }

    @Test(
        "a device that has lost the last change of the secret is known by the former one, and both agree again"
    )
    func lost() async throws {
        try await onLoop {
            let (a, b) = try await linked()
            let former = try #require(a.bridge.trust[b.id]?.secret)
            // As if a link had given a new one, and only one side had written it.
            for (changed, other) in [(a, b), (b, a)] {
                let new = try secret(UInt8.random(in: 0...255))
                changed.bridge.trust.note(other.id) { $0.agree(on: new) }
                try await relink(a, b)
                try await eventually { Self.agree(a, b) }
                #expect(a.bridge.trust[b.id]?.secret != former && a.bridge.trust[b.id]?.secret != new)
            }
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
            try await Opening().dial(socket, as: a.id, secrets: a.bridge.trust[b.id]?.secrets ?? [])
            // The dialler's side of the handshake may be over before the other has looked.
            _ = try? await TLSConnection.establish(.client, over: socket, as: thief.identity)
            try await MainLoop.sleep(for: .milliseconds(200))
            #expect(b.bridge.links.all(with: thief.id).isEmpty)
            #expect(a.link(with: b) != nil)
        }
    }

    @Test("who was unpaired can come again for thirty days, to be told so, and no longer")
    func tombstones() async throws {
        try await onLoop {
            let (a, b) = try await linked()
            try a.bridge.unpair(b.id)
            #expect(a.bridge.trust.tombstones.map(\.device) == [b.id])
            let tombstone = try #require(a.bridge.trust.tombstones.first)
            #expect(tombstone.isAlive(at: tombstone.since + Tombstone.life - 1))
            #expect(
                !tombstone.isAlive(at: tombstone.since + Tombstone.life)
                    && !tombstone.isAlive(at: tombstone.since - 1))
            _ = try await a.proxy.trust(deviceId: b.id.description, name: "")
            #expect(a.bridge.trust.tombstones.isEmpty)
        }
    }

    @Test("the trust file keeps secrets and those of devices that were unpaired, at most sixteen")
    func file() async throws {
        try await onLoop {
            let entries = try (UInt8(1)...3).map { number in
                TrustEntry(
                    try device(number), name: "Device \(number)", source: .pairing,
                    secret: number > 1 ? try secret(number) : nil,
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
