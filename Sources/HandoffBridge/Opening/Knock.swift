// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

/// What is said on a connection before TLS (protocol.md, "Opening"): the side that was dialled greets, the dialler
/// knocks.
enum Knock {
    /// How many random bytes each side gives: one side in its greeting, the other in its knock.
    static let challengeSize = 16
    /// How many bytes a greeting has.
    static let greetingSize = 24
    /// How many bytes a knock has before its entries: the kind, the number of entries, and the dialler's
    /// challenge.
    static let headSize = 2 + challengeSize
    /// How many bytes each entry has.
    static let entrySize = 16
    /// How many entries a knock that shows secrets can have. These numbers reveal little about how many
    /// secrets it shows.
    static let counts = [8, 16, 31, 62, 124]
    /// How many entries there may be.
    static let maximumEntries = 124

    /// What the connection is to be.
    enum Kind: UInt8 {
        case link = 1
        case stream = 2
    }

    /// The random bytes that both sides have put into one opening, so that neither sees the same answer twice.
    struct Exchange: Hashable, Sendable {
        /// The random bytes of the side that was dialled.
        let listener: [UInt8]
        /// The random bytes of the dialler.
        let dialler: [UInt8]

        /// The random bytes of both sides, in the order in which they are authenticated.
        var bytes: [UInt8] { listener + dialler }
    }

    /// What the first ``headSize`` bytes of a knock say.
    struct Head: Equatable, Sendable {
        let kind: Kind
        /// How many entries follow.
        let count: Int
        /// The dialler's challenge.
        let challenge: [UInt8]
    }

    /// What is wrong with what the other side has sent.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    static func greeting(_ challenge: [UInt8]) -> [UInt8] { Greeting.magic + challenge }

    /// The challenge in a greeting of ``greetingSize`` bytes.
    static func challenge(in greeting: [UInt8]) throws(Violation) -> [UInt8] {
        guard greeting.count == greetingSize, greeting.starts(with: Greeting.magic) else {
            throw Violation(description: "no Handoff answers there")
        }
        return Array(greeting.dropFirst(Greeting.magic.count))
    }

    /// A knock for a link at `destination`. It shows `secrets` among random bytes; without any secrets, it is
    /// a stranger's knock, which has a single entry.
    static func link(
        _ exchange: Exchange, by dialler: DeviceID, secrets: [PeerSecret], to destination: KnockDestination
    ) -> [UInt8] {
        var entries = secrets.prefix(maximumEntries).map {
            $0.knock(exchange, by: dialler, to: destination)
        }
        let count = entries.isEmpty ? 1 : counts.first { $0 >= entries.count } ?? maximumEntries
        while entries.count < count { entries.append(RandomBytes.make(entrySize)) }
        return [Kind.link.rawValue, UInt8(count)] + exchange.dialler + entries.joined()
    }

    /// A knock for a stream.
    static func stream(_ exchange: Exchange, by dialler: DeviceID, token: [UInt8]) -> [UInt8] {
        [Kind.stream.rawValue, 1] + exchange.dialler + streamEntry(exchange, by: dialler, token: token)
    }

    /// What `dialler` shows for the stream whose token it has been given.
    static func streamEntry(_ exchange: Exchange, by dialler: DeviceID, token: [UInt8]) -> [UInt8] {
        let whole = Digest.hmacSHA256(
            key: token, Array("handoff stream 2".utf8) + exchange.bytes + dialler.bytes)
        return Array(whole.prefix(entrySize))
    }

    /// What the first ``headSize`` bytes of a knock say.
    static func head(_ bytes: [UInt8]) throws(Violation) -> Head {
        guard bytes.count == headSize, let kind = Kind(rawValue: bytes[0]),
            (1...maximumEntries).contains(Int(bytes[1])), kind == .link || bytes[1] == 1
        else { throw Violation(description: "it did not begin as Handoff does") }
        return Head(kind: kind, count: Int(bytes[1]), challenge: Array(bytes[2...]))
    }

    /// The device whose secret, of all `secrets`, one of the entries shows, for any of `destinations`. All
    /// are compared, so that the time it takes reveals nothing.
    static func match(
        _ entries: [UInt8], _ exchange: Exchange, at destinations: [KnockDestination],
        _ secrets: [(device: DeviceID, secret: PeerSecret)]
    ) -> DeviceID? {
        let shown = stride(from: 0, to: entries.count - entrySize + 1, by: entrySize).map {
            words(entries[$0..<$0 + entrySize])
        }
        var found: DeviceID?
        for (device, secret) in secrets {
            for destination in destinations {
                let expected = words(secret.knock(exchange, by: device, to: destination)[...])
                for entry in shown
                where (entry.0 ^ expected.0) | (entry.1 ^ expected.1) == 0 { found = device }
            }
        }
        return found
    }

    /// The 16 bytes of an entry as two numbers, which are compared in the same time wherever they differ.
    private static func words(_ bytes: ArraySlice<UInt8>) -> (UInt64, UInt64) {
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        return (word(bytes.prefix(8)), word(bytes.dropFirst(8)))
    }
}
