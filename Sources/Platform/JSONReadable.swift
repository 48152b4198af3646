// SPDX-License-Identifier: LGPL-2.1-or-later

/// What a JSON text is read into. Each program keeps of one what it needs.
package protocol JSONReadable {
    static var null: Self { get }
    static func boolean(_ flag: Bool) -> Self
    static func string(_ text: String) -> Self
    static func array(_ elements: [Self]) -> Self
    /// A number as it is written; nil if it is too large.
    static func made(ofNumber digits: String) -> Self?
    /// An object, in whose members no name comes twice.
    static func made(ofMembers members: [(name: String, value: Self)]) -> Self
    /// What stands for each half of a surrogate pair that stands alone, which JavaScript writes where it has cut a text; nil if
    /// that is refused.
    static var loneSurrogate: Unicode.Scalar? { get }
}

extension JSONReadable {
    /// How deep arrays and objects nest at most, if nothing else is said.
    package static var maximumDepth: Int { 32 }

    /// The one value that `bytes` are, as RFC 8259 has it and nothing else: no comments, no text that is not UTF-8, no name
    /// twice in an object. Takes time and memory in proportion to their number; who calls limits that.
    package static func read(_ bytes: [UInt8], maximumDepth: Int = Self.maximumDepth) throws(JSONError)
        -> Self
    {
        var reader = JSONReader<Self>(
            scanner: JSONScanner(bytes, loneSurrogate: loneSurrogate), maximumDepth: maximumDepth)
        return try reader.whole()
    }
}

private struct JSONReader<Value: JSONReadable> {
    var scanner: JSONScanner
    let maximumDepth: Int

    mutating func whole() throws(JSONError) -> Value {
        let value = try value(depth: 0)
        scanner.skipSpace()
        guard scanner.next == nil else { throw scanner.error("something follows the value") }
        return value
    }

    private mutating func value(depth: Int) throws(JSONError) -> Value {
        scanner.skipSpace()
        switch scanner.next {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try scanner.string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || JSONScanner.isDigit(byte):
            guard let number = Value.made(ofNumber: try scanner.number()) else {
                throw scanner.error("a number is too large")
            }
            return number
        case .some: throw scanner.error("a value is missing")
        case nil: throw scanner.error("it ends where a value is due")
        }
    }

    private mutating func word(_ word: String, _ value: Value) throws(JSONError) -> Value {
        try scanner.word(word)
        return value
    }

    /// Steps over the bracket that opens an array or object.
    private mutating func open(_ bracket: Unicode.Scalar, depth: Int) throws(JSONError) {
        guard depth <= maximumDepth else {
            throw scanner.error("it nests more than \(maximumDepth) deep")
        }
        try scanner.expect(bracket)
        scanner.skipSpace()
    }

    private mutating func array(depth: Int) throws(JSONError) -> Value {
        try open("[", depth: depth)
        var elements: [Value] = []
        if scanner.take("]") { return .array(elements) }
        repeat {
            elements.append(try value(depth: depth))
            scanner.skipSpace()
        } while scanner.take(",")
        try scanner.expect("]")
        return .array(elements)
    }

    private mutating func object(depth: Int) throws(JSONError) -> Value {
        try open("{", depth: depth)
        var (members, names): ([(name: String, value: Value)], Set<String>) = ([], [])
        if scanner.take("}") { return .made(ofMembers: members) }
        repeat {
            scanner.skipSpace()
            let name = try scanner.string()
            scanner.skipSpace()
            try scanner.expect(":")
            members.append((name, try value(depth: depth)))
            guard names.insert(name).inserted else { throw scanner.error("an object names a member twice") }
            scanner.skipSpace()
        } while scanner.take(",")
        try scanner.expect("}")
        return .made(ofMembers: members)
    }
}
