// SPDX-License-Identifier: LGPL-2.1-or-later

/// Steps through the bytes of a JSON text (RFC 8259): what is there, whatever becomes of it.
struct JSONScanner {
    let bytes: [UInt8]
    /// What stands for each half of a surrogate pair that stands alone; nil if there must be none.
    let loneSurrogate: Unicode.Scalar?
    private(set) var position = 0

    init(_ bytes: [UInt8], loneSurrogate: Unicode.Scalar?) {
        (self.bytes, self.loneSurrogate) = (bytes, loneSurrogate)
    }

    func error(_ reason: String) -> JSONError { JSONError(reason: reason, offset: position) }

    // MARK: Bytes

    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    /// Whether `character` came next; then it is behind us.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func expect(_ character: Unicode.Scalar) throws(JSONError) {
        guard take(character) else { throw error("a \(character) is missing") }
    }

    /// Steps over `word`, which begins with what is next.
    mutating func word(_ word: String) throws(JSONError) {
        guard bytes[position...].starts(with: word.utf8) else {
            throw error("there is a word that means nothing")
        }
        position += word.utf8.count
    }

    // MARK: Numbers

    static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    /// A number, as it is written.
    mutating func number() throws(JSONError) -> String {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = next, Self.isDigit(byte) { position += 1 }
        guard position > start else { throw error("a digit is missing") }
    }

    // MARK: Text

    /// A text, from quotation mark to quotation mark.
    mutating func string() throws(JSONError) -> String {
        try expect("\"")
        var text: [UInt8] = []
        while true {
            let start = position
            while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
                position += 1
            }
            text += bytes[start..<position]
            if take("\"") { break }
            guard take("\\") else { throw error("a text does not end, or has a line break or such in it") }
            text += String(try escaped()).utf8
        }
        guard let string = String(validating: text, as: UTF8.self) else { throw error("a text is not UTF-8") }
        return string
    }

    private mutating func escaped() throws(JSONError) -> Unicode.Scalar {
        guard let byte = next else { throw error("a text does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicode()
        default: throw error("a backslash stands before something else than it may")
        }
    }

    private mutating func unicode() throws(JSONError) -> Unicode.Scalar {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        let beforeSecond = position
        guard first < 0xDC00, take("\\"), take("u"), case let second = try hexadecimal(),
            0xDC00..<0xE000 ~= second,
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else {
            guard let loneSurrogate else { throw error("half of a surrogate pair stands alone") }
            position = beforeSecond
            return loneSurrogate
        }
        return scalar
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        var number: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("after \\u four hexadecimal digits are due")
            }
            number = number << 4 | UInt32(digit)
            position += 1
        }
        return number
    }
}
