// SPDX-License-Identifier: LGPL-2.1-or-later

/// Reads JSON as RFC 8259 has it and nothing else: no comments, no text that is not UTF-8, no name twice in an object, no number
/// beyond what a double holds. Each half of a surrogate pair that stands alone, which JavaScript writes where it has cut a text,
/// becomes U+FFFD.
package struct JSONReader {
    /// How deep arrays and objects nest at most, if nothing else is said.
    package static let maximumDepth = 32

    private let bytes: [UInt8]
    private let maximumDepth: Int
    private var position = 0

    private init(_ bytes: [UInt8], _ maximumDepth: Int) {
        (self.bytes, self.maximumDepth) = (bytes, maximumDepth)
    }

    /// The one value that `bytes` are. Takes time and memory in proportion to their number; who calls limits that.
    /// - Throws: `JSONError`
    package static func read(_ bytes: [UInt8], maximumDepth: Int = Self.maximumDepth) throws -> JSONValue {
        var reader = JSONReader(bytes, maximumDepth)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.error("something follows the value") }
        return value
    }

    private func error(_ reason: String) -> JSONError { JSONError(reason: reason, offset: position) }

    // MARK: Bytes

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    /// Whether `character` came next; then it is behind us.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws {
        guard take(character) else { throw error("a \(character) is missing") }
    }

    // MARK: Values

    private mutating func value(depth: Int) throws -> JSONValue {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case .some: return .number(try number())
        case nil: throw error("it ends where a value is due")
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws -> JSONValue {
        guard bytes[position...].starts(with: word.utf8) else {
            throw error("there is a word that means nothing")
        }
        position += word.utf8.count
        return value
    }

    /// Steps over the bracket that opens an array or object.
    private mutating func open(depth: Int) throws {
        guard depth <= maximumDepth else { throw error("it nests more than \(maximumDepth) deep") }
        position += 1
        skipSpace()
    }

    private mutating func array(depth: Int) throws -> JSONValue {
        try open(depth: depth)
        var elements: [JSONValue] = []
        if take("]") { return .array(elements) }
        repeat {
            elements.append(try value(depth: depth))
            skipSpace()
        } while take(",")
        try expect("]")
        return .array(elements)
    }

    private mutating func object(depth: Int) throws -> JSONValue {
        try open(depth: depth)
        var members: [String: JSONValue] = [:]
        if take("}") { return .object(members) }
        repeat {
            skipSpace()
            let name = try string()
            skipSpace()
            try expect(":")
            let value = try value(depth: depth)
            guard members.updateValue(value, forKey: name) == nil else {
                throw error("an object names a member twice")
            }
            skipSpace()
        } while take(",")
        try expect("}")
        return .object(members)
    }

    // MARK: Numbers

    private mutating func number() throws -> Double {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let number = Double(text), number.isFinite else { throw error("a number is too large") }
        return number
    }

    private mutating func digits() throws {
        let start = position
        while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
        guard position > start else { throw error("a digit is missing") }
    }

    // MARK: Text

    private mutating func string() throws -> String {
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

    private mutating func escaped() throws -> Unicode.Scalar {
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

    private mutating func unicode() throws -> Unicode.Scalar {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        let beforeSecond = position
        guard first < 0xDC00, take("\\"), take("u"), case let second = try hexadecimal(),
            0xDC00..<0xE000 ~= second
        else {
            position = beforeSecond
            return "\u{FFFD}"
        }
        let scalar = 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
        return Unicode.Scalar(scalar) ?? "\u{FFFD}"
    }

    private mutating func hexadecimal() throws -> UInt32 {
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
