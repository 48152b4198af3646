// SPDX-License-Identifier: LGPL-2.1-or-later

extension ActivityType {
    /// The type as the name of a key in a key file, which may not hold `=`, brackets or spaces at its ends: every byte
    /// but ASCII letters, digits, `.`, `-` and `_` is written as `%` and two upper-case hexadecimal digits.
    package var key: String {
        var key = ""
        for byte in description.utf8 {
            if byte.isLabelCharacter || byte == UInt8(ascii: ".") {
                key.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                key += "%" + Hexadecimal.digits(of: [UInt64(byte)]).suffix(2).uppercased()
            }
        }
        return key
    }

    /// The type whose ``key`` this is; nil unless it is written exactly so.
    package init?(key: String) {
        var bytes: [UInt8] = []
        var rest = key.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            rest = rest.dropFirst(2)
            guard let value = UInt8(String(Substring(digits)), radix: 16) else { return nil }
            bytes.append(value)
        }
        guard let text = String(validating: bytes, as: UTF8.self), let type = try? ActivityType(text),
            type.key == key
        else { return nil }
        self = type
    }
}
