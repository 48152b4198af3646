// SPDX-License-Identifier: LGPL-2.1-or-later

/// A device: the SHA-256 of its certificate, written as 64 lower-case hexadecimal digits, ordered as its
/// bytes are.
package struct DeviceID: Hashable, Comparable, Sendable, LosslessStringConvertible {
    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    /// The identifier written as `description`; nil unless it is exactly 64 lower-case hexadecimal digits.
    package init?(_ description: String) {
        guard let words = Hexadecimal.words(4, from: description) else { return nil }
        (first, second, third, fourth) = (words[0], words[1], words[2], words[3])
    }

    /// The identifier written as `text`, which somebody sent. Throws `invalidArguments`, with that text in
    /// its message, if it is not valid.
    package init(checking text: String) throws(HandoffFailure) {
        guard let id = DeviceID(text) else { throw .malformedID(text, "device", digits: 64) }
        self = id
    }

    /// The identifier of a device without a certificate, for tests.
    package init(using generator: inout some RandomNumberGenerator) {
        (first, second, third, fourth) =
            (generator.next(), generator.next(), generator.next(), generator.next())
    }

    /// The identifier that is this hash; nil unless it is 32 bytes long.
    package init?(bytes: some Collection<UInt8>) {
        guard let words = Hexadecimal.words(4, from: bytes) else { return nil }
        (first, second, third, fourth) = (words[0], words[1], words[2], words[3])
    }

    /// The hash's 32 bytes.
    package var bytes: [UInt8] {
        words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }

    /// 64 lower-case hexadecimal digits.
    package var description: String {
        Hexadecimal.digits(of: words)
    }

    /// Whether the bytes of `lhs` come before those of `rhs`.
    package static func < (lhs: DeviceID, rhs: DeviceID) -> Bool {
        lhs.words.lexicographicallyPrecedes(rhs.words)
    }

    private var words: [UInt64] { [first, second, third, fourth] }
}
