// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffInterfaces
import Testing

@testable import HandoffBridge
@testable import HandoffCore

extension Vectors {
    /// What two devices compute of each other's ids and of the TLS session between them.
    func secrets() throws -> JSON {
        let ends = [(desk, lap), (lap, desk), (phone, desk)]
        let secrets = ends.map { (client, server) -> JSON in
            let secret = PeerSecret(exporter: exporter, client: client, server: server)
            return [
                "EKM": .bytes(exporter), "client": .bytes(client.bytes), "server": .bytes(server.bytes),
                "K": .bytes(secret.bytes), "Secret": .bytes(secret.id),
            ]
        }
        let trust = ends.map { (one, other) -> JSON in
            let key = PeerSecret(trustBetween: one, and: other).bytes
            return ["one": .bytes(one.bytes), "other": .bytes(other.bytes), "key": .bytes(key)]
        }
        let ports = [desk, lap, phone].map { (device) -> JSON in
            ["id": .bytes(device.bytes), "port": .number(OwnPlaces.port(of: device))]
        }
        return [
            "secrets": .list(secrets), "trust": .list(trust), "portsOfPlaces": .list(ports),
            "places": .list(try places()),
        ]
    }

    /// What `Places` may hold and what not.
    private func places() throws -> [JSON] {
        let addresses: [(host: String, port: UInt16)] = [
            ("10.8.0.2", 45778), ("2001:db8::7", 45712), ("fd00::1", 1), ("192.0.2.7", 0), ("0.0.0.0", 45712),
            ("127.0.0.1", 45712), ("169.254.1.1", 45712), ("224.0.0.251", 45712), ("255.255.255.255", 45712),
            ("::", 45712), ("::1", 45712), ("fe80::1", 45712), ("febf::1", 45712), ("ff02::fb", 45712),
        ]
        let written = try addresses.map { (host, port) throws -> JSON in
            let bytes = try #require(KnockDestination(NetworkAddress(host: host, port: port))).bytes
            return [
                "address": .text(host), "port": .number(port), "bytes": .bytes(bytes),
                "isPlace": isPlace(bytes),
            ]
        }
        let others = [0, 17, 19].map { (count) -> JSON in
            let bytes = [UInt8](repeating: 1, count: count)
            return ["address": nil, "port": nil, "bytes": .bytes(bytes), "isPlace": isPlace(bytes)]
        }
        return written + others
    }

    private func isPlace(_ bytes: [UInt8]) -> JSON { .truth(KnockDestination(said: bytes) != nil) }

    /// The codes of pairing, and the dialogues that end well or badly.
    func pairing() throws -> JSON {
        let (na, nb) = (Self.row(0x20, 32), Self.row(0x60, 32))
        let transcript = PairingTranscript.make(exporter, client: desk, server: lap)
        // Leading zeros belong to the code.
        let candidates = (0..<UInt32(100_000)).lazy.map { number -> [UInt8] in
            Self.row(0, 29) + [16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        let rare = try #require(candidates.first { transcript.code($0, nb).hasPrefix("000") })
        let codes = [na, rare].map { (na) -> JSON in
            [
                "EKM": .bytes(exporter), "I": .bytes(desk.bytes), "R": .bytes(lap.bytes), "Na": .bytes(na),
                "Nb": .bytes(nb), "C": .bytes(transcript.commitment(na)),
                "code": .text(transcript.code(na, nb)),
            ]
        }
        return ["codes": .list(codes), "dialogues": .list(Dialogue.all(transcript, na: na, nb: nb))]
    }
}

/// One attempt at pairing, in which the vectors say what one side receives and what its user does.
private struct Dialogue {
    private enum Event {
        case call(String, [UInt8])
        case reply(String, [UInt8])
        case user(String)
    }

    private var pairing: Pairing
    private var budget = PairingBudget()

    static func all(_ transcript: Pairing.Transcript, na: [UInt8], nb: [UInt8]) -> [JSON] {
        let commitment = transcript.commitment(na)
        let (commit, reveal) = (Event.call("Commit", commitment), Event.call("Reveal", na))
        let confirm = Event.call("Confirm", [])
        let responses: [(String, [Event])] = [
            ("both users say yes, the other one first", [commit, reveal, confirm, .user("yes")]),
            ("both users say yes, this one first", [.user("pairs"), commit, reveal, .user("yes"), confirm]),
            ("the user says no", [commit, reveal, .user("no")]),
            ("a commitment is too short", [.call("Commit", commitment.dropLast())]),
            ("a commitment is empty", [.call("Commit", [])]),
            ("a commitment comes twice", [commit, commit]),
            ("something else is revealed", [commit, .call("Reveal", nb)]),
            ("what is revealed is too long", [commit, .call("Reveal", na + [0])]),
            ("what is revealed comes first", [reveal]),
            ("it is revealed twice", [commit, reveal, reveal]),
            ("it is confirmed before it is revealed", [commit, confirm]),
            ("it is confirmed twice", [commit, reveal, confirm, confirm]),
            ("it is confirmed first", [confirm]),
            ("a responder is asked", [.call("Request", [])]),
            ("it is cancelled", [commit, .call("Cancel", [])]),
            ("nothing is cancelled", [.call("Cancel", [])]),
        ]
        let initiatives: [(String, [Event])] = [
            (
                "the initiator is asked, and both users say yes",
                [.call("Request", []), .reply("Commit", nb), .reply("Reveal", []), .user("yes"), confirm]
            ),
            ("both have asked", [.user("pairs"), .call("Request", []), .reply("Commit", nb)]),
            ("an answer is too short", [.user("pairs"), .reply("Commit", nb.dropLast())]),
            ("an initiator gets a commitment", [commit]),
            ("it is asked too late", [.user("pairs"), .reply("Commit", nb), .call("Request", [])]),
        ]
        return responses.map { run($0, "R", Pairing(.responder, nonce: nb, transcript: transcript), $1) }
            + initiatives.map { run($0, "I", Pairing(.initiator, nonce: na, transcript: transcript), $1) }
    }

    private static func run(_ name: String, _ role: String, _ pairing: Pairing, _ events: [Event]) -> JSON {
        var dialogue = Dialogue(pairing: pairing)
        return ["name": .text(name), "role": .text(role), "steps": .list(events.map { dialogue.step($0) })]
    }

    private mutating func step(_ event: Event) -> JSON {
        var members: [(key: String, value: JSON)]
        var (actions, refusal): ([Pairing.Action], HandoffFailure?) = ([], nil)
        switch event {
        case .call(let member, let bytes): members = [("call", .text(member)), ("bytes", .bytes(bytes))]
        case .reply(let member, let bytes): members = [("reply", .text(member)), ("bytes", .bytes(bytes))]
        case .user(let what): members = [("user", .text(what))]
        }
        do throws(Pairing.Refusal) {
            actions = try perform(event)
        } catch {
            (actions, refusal) = (error.actions, error.failure)
        }
        if let refusal { members.append(("error", .text(DBusError.converting(refusal).name.text))) }
        for action in actions { members += Self.members(of: action) }
        if !pairing.code.isEmpty { members.append(("code", .text(pairing.code))) }
        return .object(members)
    }

    private mutating func perform(_ event: Event) throws(Pairing.Refusal) -> [Pairing.Action] {
        let now = Instant(microseconds: 1)
        switch event {
        case .call("Request", _): return try pairing.requestReceived(budget: &budget, at: now)
        case .call("Commit", let bytes): return try pairing.commitReceived(bytes, budget: &budget, at: now)
        case .call("Reveal", let bytes): return try pairing.revealReceived(bytes, at: now)
        case .call("Confirm", _): return try pairing.confirmReceived()
        case .call: return pairing.cancelReceived("")
        case .reply("Commit", let bytes): return pairing.commitAnswered(bytes)
        case .reply: return pairing.revealAnswered(at: now)
        case .user("pairs"): return pairing.pair(at: now)
        case .user(let what): return (try? pairing.confirm(what == "yes")) ?? []
        }
    }

    private static func members(of action: Pairing.Action) -> [(key: String, value: JSON)] {
        switch action {
        case .answerCommit(let bytes): [("answer", .bytes(bytes))]
        case .sendRequest: [("calls", "Request")]
        case .sendCommit(let bytes): [("calls", "Commit"), ("argument", .bytes(bytes))]
        case .sendReveal(let bytes): [("calls", "Reveal"), ("argument", .bytes(bytes))]
        case .sendConfirm: [("calls", "Confirm")]
        case .sendCancel: [("calls", "Cancel")]
        case .store: [("stores", true)]
        case .fail: [("closes", true)]
        case .changed: []
        }
    }
}
