// SPDX-License-Identifier: LGPL-2.1-or-later

/// The text of a settings file as Qt programs write it (QSettings, `IniFormat`). It looks like a key file, but is none:
/// keys have backslashes, values may be quoted, span lines, and have escape sequences of their own.
enum SettingsText {
    /// The texts that stand in the group `group`, by key as it is written in the file. What is no single text is left
    /// out, and so is what cannot be understood.
    static func texts(in group: String, of bytes: [UInt8]) -> [String: String] {
        var (texts, isInGroup): ([String: String], Bool) = ([:], false)
        var rest = bytes[...]
        while let line = nextLine(&rest) {
            if line.first == UInt8(ascii: "[") {
                let name = line.dropFirst().prefix { $0 != UInt8(ascii: "]") }
                isInGroup = name.elementsEqual(group.utf8)
            } else if isInGroup, let end = line.firstIndex(of: UInt8(ascii: "=")),
                let text = text(line[line.index(after: end)...])
            {
                texts[String(decoding: line[..<end].trimmed, as: UTF8.self)] = text
            }
        }
        return texts
    }

    // MARK: Lines

    /// Takes the next line that says something: it goes on after a backslash at its end, and within quotation marks.
    private static func nextLine(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        while !rest.isEmpty {
            let line = takeLine(&rest).trimmed
            if let first = line.first, first != UInt8(ascii: ";") { return line }
        }
        return nil
    }

    private static func takeLine(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isComment = rest.first == UInt8(ascii: ";")
        var (index, isQuoted) = (rest.startIndex, false)
        while index < rest.endIndex {
            switch rest[index] {
            case UInt8(ascii: "\\") where !isComment:
                index += 1
                // A line break of two bytes is escaped as a whole.
                if rest[index...].starts(with: [0x0D, 0x0A]) { index += 1 }
            case UInt8(ascii: "\"") where !isComment: isQuoted.toggle()
            case 0x0A where !isQuoted, 0x0D where !isQuoted:
                defer { rest = rest[(index + 1)...] }
                return rest[..<index]
            default: break
            }
            index += 1
        }
        defer { rest = [] }
        return rest
    }

    // MARK: Values

    private static let escapes: [UInt8: UInt16] = [
        UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10,
        UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9, UInt8(ascii: "v"): 11, UInt8(ascii: "\""): 34,
        UInt8(ascii: "?"): 63, UInt8(ascii: "'"): 39, UInt8(ascii: "\\"): 92,
    ]

    /// The text that `value` stands for; nil if it is a list, something other than text, or not well-formed.
    private static func text(_ value: ArraySlice<UInt8>) -> String? {
        var units: [UInt16] = []
        var (rest, isQuoted, length) = (value.drop { $0 == 0x20 || $0 == 0x09 }, false, 0)
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: "\\"):
                rest.removeFirst()
                takeEscape(&rest, &units)
                length = units.count
                continue
            case UInt8(ascii: "\""):
                isQuoted.toggle()
                length = units.count
            case UInt8(ascii: ",") where !isQuoted: return nil
            default:
                let plain = rest.prefix { $0 != UInt8(ascii: "\\") && $0 != 0x22 && $0 != UInt8(ascii: ",") }
                let bytes = plain.isEmpty ? rest.prefix(1) : plain
                guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
                units += text.utf16
                // White space at the end counts only within quotation marks.
                if isQuoted || !bytes.trimmed.isEmpty {
                    length = units.count - (isQuoted ? 0 : bytes.spacesAtEnd)
                }
                rest = rest.dropFirst(bytes.count)
                continue
            }
            rest.removeFirst()
        }
        guard let text = String(validating: units.prefix(length), as: UTF16.self) else { return nil }
        // A text that begins with “@” has another in front of it; anything else that does is no text.
        guard text.hasPrefix("@") else { return text }
        return text.hasPrefix("@@") ? String(text.dropFirst()) : nil
    }

    /// Takes what follows a backslash.
    private static func takeEscape(_ rest: inout ArraySlice<UInt8>, _ units: inout [UInt16]) {
        guard let code = rest.popFirst() else { return }
        switch code {
        case UInt8(ascii: "x"): units.append(takeNumber(&rest, radix: 16))
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            units.append(takeNumber(&rest, radix: 8, after: UInt16(code - UInt8(ascii: "0"))))
        case 0x0D: if rest.first == 0x0A { rest.removeFirst() }
        case 0x0A: if rest.first == 0x0D { rest.removeFirst() }
        default: if let unit = escapes[code] { units.append(unit) }
        }
    }

    /// Takes all digits that follow, of which the last count.
    private static func takeNumber(
        _ rest: inout ArraySlice<UInt8>, radix: UInt16, after first: UInt16 = 0
    ) -> UInt16 {
        var number = first
        while let digit = rest.first.flatMap({ Character(UnicodeScalar($0)).hexDigitValue }), digit < radix {
            number = number &* radix &+ UInt16(digit)
            rest.removeFirst()
        }
        return number
    }
}

extension ArraySlice<UInt8> {
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// This without white space at its ends.
    fileprivate var trimmed: ArraySlice<UInt8> {
        drop(while: Self.isSpace).dropLast(drop(while: Self.isSpace).spacesAtEnd)
    }

    /// How many bytes of white space are at its end.
    fileprivate var spacesAtEnd: Int { reversed().prefix(while: Self.isSpace).count }
}
