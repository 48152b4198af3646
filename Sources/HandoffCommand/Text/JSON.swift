// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import Platform

/// A JSON value (RFC 8259) to be written on one line.
indirect enum JSON: Equatable {
    case null
    case boolean(Bool)
    /// A number as it is written.
    case number(String)
    case string(String)
    case array([JSON])
    /// The members in the order in which they are written.
    case object([Member])

    /// A member of an object.
    struct Member: Equatable {
        let name: String
        let value: JSON
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
    init(stringLiteral value: String) { self = .string(value) }

    init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member(name: $0.0, value: $0.1) })
    }

    static func integer(_ number: some BinaryInteger) -> JSON { .number("\(number)") }
    /// A moment in microseconds since the Unix epoch; 0 stands for none.
    static func time(_ microseconds: Int64) -> JSON { microseconds == 0 ? .null : .integer(microseconds) }
    static func strings(_ strings: [String]) -> JSON { .array(strings.map { .string($0) }) }

    /// JSON has no infinity and no NaN: they are null.
    static func real(_ number: Double) -> JSON { number.isFinite ? .number("\(number)") : .null }
}

// MARK: Reading

extension JSON: JSONReadable {
    /// What half a character means nobody can tell.
    static var loneSurrogate: Unicode.Scalar? { nil }

    /// As it is written, so that it loses no digit.
    static func made(ofNumber digits: String) -> JSON? { .number(digits) }

    static func made(ofMembers members: [(name: String, value: JSON)]) -> JSON {
        .object(members.map { Member(name: $0.name, value: $0.value) })
    }

    /// The one value that `bytes` are.
    /// - Throws: what is wrong, and at which byte; it quotes nothing of them.
    static func reading(_ bytes: [UInt8]) throws(CommandFailure) -> JSON {
        do throws(JSONError) {
            return try read(bytes)
        } catch {
            throw CommandFailure(
                tr(
                    "It is not JSON: {reason}, at byte {place}.",
                    ["reason": error.reason, "place": "\(error.offset + 1)"]))
        }
    }
}

// MARK: Writing

extension JSON {
    /// The value on one line, in ASCII except for printable text.
    var text: String { text(isASCII: false) }

    /// The value on one line. `isASCII`: printable text is escaped too, where it is not ASCII.
    func text(isASCII: Bool) -> String {
        var text = ""
        write(to: &text, isASCII)
        return text
    }

    private func write(to text: inout String, _ isASCII: Bool) {
        switch self {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .number(let digits): text += digits
        case .string(let string): Self.write(string, to: &text, isASCII)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                element.write(to: &text, isASCII)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                Self.write(member.name, to: &text, isASCII)
                text += ":"
                member.value.write(to: &text, isASCII)
            }
            text += "}"
        }
    }

    private static func write(_ string: String, to text: inout String, _ isASCII: Bool) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            // Nothing is lost, and nothing steers a terminal that shows the line.
            case _ where PeerText.isControl(scalar) || (isASCII && !scalar.isASCII):
                writeEscape(scalar, to: &text)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    private static func writeEscape(_ scalar: Unicode.Scalar, to text: inout String) {
        for unit in String(scalar).utf16 {
            let digits = String(unit, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}

// MARK: D-Bus values

extension JSON {
    /// `value` as JSON, without its exact type: bytes and structures become arrays, and variants their
    /// content.
    init(_ value: DBus.Value) {
        switch value {
        case .byte(let number): self = .integer(number)
        case .boolean(let flag): self = .boolean(flag)
        case .int16(let number): self = .integer(number)
        case .uint16(let number): self = .integer(number)
        case .int32(let number): self = .integer(number)
        case .uint32(let number): self = .integer(number)
        case .int64(let number): self = .integer(number)
        case .uint64(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let string): self = .string(string)
        case .objectPath(let path): self = .string(path.text)
        case .signature(let signature): self = .string(signature.text)
        case .bytes(let bytes): self = .array(bytes.map { .integer($0) })
        case .array(let array): self = .array(array.elements.map { JSON($0) })
        case .dictionary(let dictionary):
            self = .object(dictionary.entries.map { Member(name: Self.key($0.key), value: JSON($0.value)) })
        case .structure(let structure): self = .array(structure.fields.map { JSON($0) })
        case .variant(let content): self = JSON(content)
        }
    }

    /// The key of a dictionary, which in JSON is always a string.
    private static func key(_ value: DBus.Value) -> String {
        if case .string(let string) = JSON(value) { return string }
        return JSON(value).text
    }
}
