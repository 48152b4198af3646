// SPDX-License-Identifier: LGPL-2.1-or-later

/// One act of continuing: 128 random bits, never reused, written as 32 lower-case hexadecimal digits.
public struct ContinuationID: Hashable, Sendable, LosslessStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// The identifier written as `description`; nil unless it is exactly 32 lower-case hexadecimal digits.
    public init?(_ description: String) {
        guard let words = Hexadecimal.words(2, from: description) else { return nil }
        (high, low) = (words[0], words[1])
    }

    /// The identifier made of 16 random bytes; nil if there are more or fewer.
    public init?(bytes: some Collection<UInt8>) {
        guard let words = Hexadecimal.words(2, from: bytes) else { return nil }
        (high, low) = (words[0], words[1])
    }

    /// A new identifier of 128 bits from `generator`, which must be cryptographically strong.
    public init(using generator: inout some RandomNumberGenerator) {
        high = generator.next()
        low = generator.next()
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String {
        Hexadecimal.digits(of: [high, low])
    }
}
