// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

/// An admission with nothing behind it, and the connections that come to it.
@MainLoop
private final class Door {
    let owner: FakeAdmissionOwner
    private let admission: Admission
    private let listener: Listener
    /// Connections that are kept for as long as this exists.
    private var dialled: [TLSConnection] = []

    init() throws {
        owner = try FakeAdmissionOwner()
        let admission = Admission(owner.shared.state, owner)
        self.admission = admission
        listener = try Listener(NetworkAddress(host: "127.0.0.1", port: 0), port: 0) { admission.admit($0) }
    }

    isolated deinit { admission.closeAll() }

    /// A device whose secret is known here.
    func peer() throws -> Identity {
        let identity = try Identity(pem: KeyMaker.makeIdentity())
        let trust = owner.shared.state.trust
        try trust.put(
            TrustEntry(identity.device, source: .pairing, secret: try secret(UInt8(trust.entries.count + 1))))
        return identity
    }

    /// Makes a connection and goes as far as the end of the opening.
    private func knock(_ identity: Identity) async throws -> SocketConnection {
        let socket = try await SocketConnection.connect(
            to: NetworkAddress(host: "127.0.0.1", port: listener.port))
        let secrets = [owner.shared.state.trust[identity.device]?.secret].compactMap { $0 }
        try await Opening().dial(socket, as: identity.device, secrets: secrets)
        return socket
    }

    /// A connection whose handshake begins with these bytes, and does not go on.
    func stall(_ identity: Identity, after bytes: [UInt8] = [0x16, 3, 1, 2, 0]) async throws
        -> SocketConnection
    {
        let socket = try await knock(identity)
        if !bytes.isEmpty { try socket.write(bytes) }
        return socket
    }

    /// A connection whose handshake goes on as soon as it may.
    func come(_ identity: Identity) async throws {
        let socket = try await knock(identity)
        MainLoop.start { [self] in
            dialled.append(try await TLSConnection.establish(.client, over: socket, as: identity))
        }
    }

    /// Ends what has stalled; the other side sees that at once.
    func end(_ stalled: SocketConnection) { stalled.close() }
}

@Suite("Handshakes that stall", .serialized)
struct StalledHandshakeTests {
    @Test("three stalled handshakes of a peer hold up its fourth, and nobody else")
    func stalledOfAPeer() async throws {
        try await onLoop {
            let door = try Door()
            let (one, other) = (try door.peer(), try door.peer())
            var stalled: [SocketConnection] = []
            for _ in 0..<3 { stalled.append(try await door.stall(one)) }
            try await door.come(one)
            try await door.come(other)
            // This is sooner than any connection that has stalled is given up.
            try await eventually(timeout: .seconds(4)) { door.owner.admitted.contains(other.device) }
            // The fourth came first: without a limit it would have been let in first, or a moment later.
            try await MainLoop.sleep(for: .milliseconds(300))
            #expect(door.owner.admitted == [other.device])
            door.end(stalled[0])
            try await eventually(timeout: .seconds(4)) { door.owner.admitted == [other.device, one.device] }
        }
    }

    @Test("connections of a peer that say nothing after their knock hold up nobody")
    func silentAfterTheKnock() async throws {
        try await onLoop {
            let door = try Door()
            let one = try door.peer()
            var silent: [SocketConnection] = []
            for _ in 0..<3 { silent.append(try await door.stall(one, after: [])) }
            try await door.come(one)
            try await eventually(timeout: .seconds(4)) { door.owner.admitted == [one.device] }
            #expect(silent.count { $0.hasBeenEnded } == 0)
        }
    }

    @Test("two stalled handshakes of strangers hold up other strangers, and no peer")
    func stalledOfStrangers() async throws {
        try await onLoop {
            let door = try Door()
            door.owner.welcomesStrangers = true
            let (stranger, peer) = (try Identity(pem: KeyMaker.makeIdentity()), try door.peer())
            var stalled: [SocketConnection] = []
            for _ in 0..<2 { stalled.append(try await door.stall(stranger)) }
            try await door.come(stranger)
            try await door.come(peer)
            try await eventually(timeout: .seconds(4)) { door.owner.admitted == [peer.device] }
            // This is longer than a second, after which it would be the turn of the third.
            try await MainLoop.sleep(for: .milliseconds(1500))
            #expect(door.owner.admitted == [peer.device])
            door.end(stalled[0])
            try await eventually(timeout: .seconds(4)) {
                door.owner.admitted == [peer.device, stranger.device]
            }
        }
    }

    @Test("a handshake that stalls is given up after five seconds")
    func givenUp() async throws {
        try await onLoop {
            let door = try Door()
            let stalled = try await door.stall(try door.peer())
            let start = MainLoop.now
            try await eventually { stalled.hasBeenEnded && !door.owner.shared.refusals.isEmpty }
            #expect((4_000_000...9_000_000).contains(MainLoop.now - start))
            #expect(door.owner.admitted.isEmpty)
        }
    }
}
