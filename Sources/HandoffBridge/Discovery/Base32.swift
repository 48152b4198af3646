// SPDX-License-Identifier: LGPL-2.1-or-later

/// Bytes as lower-case letters and the digits 2 to 7, without padding (RFC 4648, section 6): the form in
/// which random bytes are written in a DNS label.
enum Base32 {
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var (text, buffer, bits) = ([UInt8](), UInt32(0), 0)
        for byte in bytes {
            buffer = (buffer & 0x1F) << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[Int(buffer >> UInt32(bits) & 0x1F)])
            }
        }
        if bits > 0 { text.append(alphabet[Int(buffer << UInt32(5 - bits) & 0x1F)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that `text` was made of, in letters of either case; nil unless it is what ``encode(_:)`` makes.
    static func decode(_ text: String) -> [UInt8]? {
        var (bytes, buffer, bits) = ([UInt8](), UInt32(0), 0)
        for character in text.utf8 {
            let lower =
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character) ? character | 0x20 : character
            guard let value = alphabet.firstIndex(of: lower) else { return nil }
            buffer = (buffer & 0xFF) << 5 | UInt32(value)
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        // The bits that are left must be the zeros of the last letter, and fewer than a letter has.
        guard bits < 5, buffer & (1 << UInt32(bits) - 1) == 0 else { return nil }
        return bytes
    }
}
