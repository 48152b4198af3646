// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// What is said on a connection before TLS (WIRE, "Opening"): the side that was dialled greets, the dialler knocks.
enum Knock {
    /// The bytes that each greeting begins with.
    static let magic = Array("HANDOFF1".utf8)
    /// The random bytes in a greeting.
    static let challengeSize = 16
    /// The bytes of a greeting.
    static let greetingSize = 24
    /// The bytes before the entries of a knock.
    static let headSize = 2
    /// The bytes of each entry.
    static let entrySize = 16
    /// How many entries there may be.
    static let maximumEntries = 62

    /// What the connection is to be.
    enum Kind: UInt8 {
        case link = 1
        case stream = 2
    }

    /// What is wrong with what the other side has said.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    static func greeting(_ challenge: [UInt8]) -> [UInt8] { magic + challenge }

    /// The challenge in a greeting of ``greetingSize`` bytes.
    static func challenge(in greeting: [UInt8]) throws(Violation) -> [UInt8] {
        guard greeting.count == greetingSize, greeting.starts(with: magic) else {
            throw Violation(description: "no Handoff answers there")
        }
        return Array(greeting.dropFirst(magic.count))
    }

    /// A knock for a link. A stranger shows bytes at random, and so does whoever has no secret for it.
    static func link(_ challenge: [UInt8], by dialler: DeviceID, secrets: [PeerSecret]) -> [UInt8] {
        var entries = secrets.prefix(maximumEntries).map { $0.knock(challenge, by: dialler) }
        if entries.isEmpty { entries = [RandomBytes.make(entrySize)] }
        return [Kind.link.rawValue, UInt8(entries.count)] + entries.joined()
    }

    /// A knock for a stream.
    static func stream(_ challenge: [UInt8], by dialler: DeviceID, token: [UInt8]) -> [UInt8] {
        [Kind.stream.rawValue, 1] + streamEntry(challenge, by: dialler, token: token)
    }

    /// What `dialler` shows for the stream whose token it has been given.
    static func streamEntry(_ challenge: [UInt8], by dialler: DeviceID, token: [UInt8]) -> [UInt8] {
        let whole = Digest.hmacSHA256(
            key: token, Array("handoff stream 1".utf8) + challenge + dialler.bytes)
        return Array(whole.prefix(entrySize))
    }

    /// What the first ``headSize`` bytes of a knock say: its kind, and how many entries follow.
    static func head(_ bytes: [UInt8]) throws(Violation) -> (kind: Kind, count: Int) {
        guard bytes.count == headSize, let kind = Kind(rawValue: bytes[0]),
            (1...maximumEntries).contains(Int(bytes[1])), kind == .link || bytes[1] == 1
        else { throw Violation(description: "it did not begin as Handoff does") }
        return (kind, Int(bytes[1]))
    }

    /// Which of `secrets` one of the entries shows. All are looked at, so that the time tells nothing.
    static func match(
        _ entries: [UInt8], _ challenge: [UInt8], _ secrets: [(device: DeviceID, secret: PeerSecret)]
    ) -> DeviceID? {
        var found: DeviceID?
        for (device, secret) in secrets {
            let expected = secret.knock(challenge, by: device)
            for start in stride(from: 0, to: entries.count - entrySize + 1, by: entrySize)
            where PeerSecret.areEqual(entries[start..<start + entrySize], expected) { found = device }
        }
        return found
    }
}
