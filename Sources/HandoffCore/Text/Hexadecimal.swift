// SPDX-License-Identifier: LGPL-2.1-or-later

/// Lower-case hexadecimal digits, the only ones that identifiers are written in.
enum Hexadecimal {
    /// `words` in sixteen digits each, the most significant first.
    static func digits(of words: [UInt64]) -> String {
        String(unsafeUninitializedCapacity: words.count * 16) { digits in
            for index in 0..<words.count * 16 {
                let digit = UInt8(truncatingIfNeeded: words[index / 16] >> UInt64(60 - index % 16 * 4) & 15)
                digits[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
            }
            return words.count * 16
        }
    }

    /// The big-endian words that `text` is written as; nil unless it is exactly `count` words in lower case.
    static func words(_ count: Int, from text: some StringProtocol) -> [UInt64]? {
        guard text.utf8.count == count * 16 else { return nil }
        var words: [UInt64] = []
        var word: UInt64 = 0
        // The bytes of an array are at hand, those of a string are fetched one by one.
        let digits = Array(text.utf8)
        for index in digits.indices {
            let digit = digits[index]
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): word = word << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                word = word << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
            if index % 16 == 15 {
                words.append(word)
                word = 0
            }
        }
        return words
    }

    /// The big-endian words that `bytes` make up; nil unless they are exactly `count` words.
    static func words(_ count: Int, from bytes: some Collection<UInt8>) -> [UInt64]? {
        guard bytes.count == count * 8 else { return nil }
        var words: [UInt64] = []
        var word: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            word = word << 8 | UInt64(byte)
            if index % 8 == 7 {
                words.append(word)
                word = 0
            }
        }
        return words
    }
}
