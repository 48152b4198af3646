// SPDX-License-Identifier: LGPL-2.1-or-later

/// Reads JSON as RFC 8259 has it and nothing else: no comments, no text that is not UTF-8, no name twice in an object. Numbers
/// stay as they are written, so that none loses a digit.
struct JSONReader {
    /// How deep arrays and objects nest at most.
    static let maximumDepth = 32

    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The one value that `bytes` are. Takes time and memory in proportion to their number; who calls limits that.
    /// - Throws: what is wrong, and at which byte; it quotes nothing of them.
    static func read(_ bytes: [UInt8]) throws(CommandFailure) -> JSON {
        var reader = JSONReader(bytes)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.failure("something follows the value") }
        return value
    }

    private func failure(_ reason: String) -> CommandFailure {
        CommandFailure("It is not JSON: \(reason), at byte \(position + 1).")
    }

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

    private mutating func expect(_ character: Unicode.Scalar) throws(CommandFailure) {
        guard take(character) else { throw failure("a \(character) is missing") }
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(CommandFailure) -> JSON {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case .some: return .number(try number())
        case nil: throw failure("it ends where a value is due")
        }
    }

    private mutating func word(_ word: String, _ value: JSON) throws(CommandFailure) -> JSON {
        guard bytes[position...].starts(with: word.utf8) else {
            throw failure("there is a word that means nothing")
        }
        position += word.utf8.count
        return value
    }

    /// Steps over the bracket that opens an array or object.
    private mutating func open(depth: Int) throws(CommandFailure) {
        guard depth <= Self.maximumDepth else {
            throw failure("it nests more than \(Self.maximumDepth) deep")
        }
        position += 1
        skipSpace()
    }

    private mutating func array(depth: Int) throws(CommandFailure) -> JSON {
        try open(depth: depth)
        var elements: [JSON] = []
        if take("]") { return .array(elements) }
        repeat {
            elements.append(try value(depth: depth))
            skipSpace()
        } while take(",")
        try expect("]")
        return .array(elements)
    }

    private mutating func object(depth: Int) throws(CommandFailure) -> JSON {
        try open(depth: depth)
        var (members, names): ([JSON.Member], Set<String>) = ([], [])
        if take("}") { return .object(members) }
        repeat {
            skipSpace()
            let name = try string()
            skipSpace()
            try expect(":")
            members.append(JSON.Member(name: name, value: try value(depth: depth)))
            guard names.insert(name).inserted else { throw failure("an object names a member twice") }
            skipSpace()
        } while take(",")
        try expect("}")
        return .object(members)
    }

    private mutating func number() throws(CommandFailure) -> String {
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

    private mutating func digits() throws(CommandFailure) {
        let start = position
        while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
        guard position > start else { throw failure("a value or a digit is missing") }
    }

    // MARK: Text

    private mutating func string() throws(CommandFailure) -> String {
        try expect("\"")
        var text: [UInt8] = []
        while true {
            let start = position
            while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
                position += 1
            }
            text += bytes[start..<position]
            if take("\"") { break }
            guard take("\\") else { throw failure("a text does not end, or has a line break or such in it") }
            text += String(try escaped()).utf8
        }
        guard let string = String(validating: text, as: UTF8.self) else {
            throw failure("a text is not UTF-8")
        }
        return string
    }

    private mutating func escaped() throws(CommandFailure) -> Unicode.Scalar {
        guard let byte = next else { throw failure("a text does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicode()
        default: throw failure("a backslash stands before something else than it may")
        }
    }

    private mutating func unicode() throws(CommandFailure) -> Unicode.Scalar {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take("\\"), take("u"), case let second = try hexadecimal(),
            0xDC00..<0xE000 ~= second,
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw failure("half of a surrogate pair stands alone") }
        return scalar
    }

    private mutating func hexadecimal() throws(CommandFailure) -> UInt32 {
        var number: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw failure("after \\u four hexadecimal digits are due")
            }
            number = number << 4 | UInt32(digit)
            position += 1
        }
        return number
    }
}
