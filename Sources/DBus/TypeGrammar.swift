// SPDX-License-Identifier: LGPL-2.1-or-later

/// The grammar of signatures (D-Bus Specification, "Type System"), with the limits that libdbus sets.
enum TypeGrammar {
    /// The most type codes that a signature has.
    static let maximumLength = 255
    /// How many arrays may directly follow each other, and how many structures and dictionary entries may be open.
    private static let maximumNesting = 32

    /// Whether `text` is a signature: zero or more complete types.
    static func isValid(_ text: Span<UInt8>) -> Bool {
        guard text.count <= maximumLength else { return false }
        var position = 0
        while position < text.count {
            guard passType(&position, in: text, arrays: 0, structures: 0, entries: 0) else { return false }
        }
        return true
    }

    /// Whether `text` is exactly one complete type.
    static func isSingle(_ text: Span<UInt8>) -> Bool {
        // Most are a single basic type.
        if text.count == 1 { return TypeCode.isBasic(text[0]) || text[0] == TypeCode.variant }
        guard !text.isEmpty, text.count <= maximumLength else { return false }
        var position = 0
        return passType(&position, in: text, arrays: 0, structures: 0, entries: 0) && position == text.count
    }

    /// Passes over the complete type at `position`.
    /// - Returns: false if there is none.
    private static func passType(
        _ position: inout Int, in text: Span<UInt8>, arrays: Int, structures: Int, entries: Int
    ) -> Bool {
        guard position < text.count else { return false }
        let code = text[position]
        position += 1
        switch code {
        case TypeCode.variant: return true
        case TypeCode.array:
            guard arrays < maximumNesting else { return false }
            guard position < text.count, text[position] == TypeCode.dictionaryEntry else {
                return passType(
                    &position, in: text, arrays: arrays + 1, structures: structures, entries: entries)
            }
            position += 1
            return passEntry(&position, in: text, structures: structures, entries: entries)
        case TypeCode.structure:
            guard structures < maximumNesting else { return false }
            repeat {
                guard
                    passType(
                        &position, in: text, arrays: 0, structures: structures + 1, entries: entries),
                    position < text.count
                else { return false }
            } while text[position] != TypeCode.structureEnd
            position += 1
            return true
        default: return TypeCode.isBasic(code)
        }
    }

    /// Passes over what follows the opening brace of a dictionary entry.
    private static func passEntry(
        _ position: inout Int, in text: Span<UInt8>, structures: Int, entries: Int
    ) -> Bool {
        guard entries < maximumNesting, position < text.count, TypeCode.isBasic(text[position]) else {
            return false
        }
        position += 1
        guard passType(&position, in: text, arrays: 0, structures: structures, entries: entries + 1),
            position < text.count, text[position] == TypeCode.dictionaryEntryEnd
        else { return false }
        position += 1
        return true
    }

    /// The position after the complete type at `position` in `bytes`, which is part of a valid signature that ends
    /// before `end`.
    static func end(ofTypeAt position: Int, in bytes: [UInt8], before end: Int) -> Int {
        var (position, depth) = (position, 0)
        while position < end {
            let code = bytes[position]
            position += 1
            switch code {
            case TypeCode.structure, TypeCode.dictionaryEntry: depth += 1
            case TypeCode.structureEnd, TypeCode.dictionaryEntryEnd: depth -= 1
            default: break
            }
            if depth <= 0, code != TypeCode.array { break }
        }
        return position
    }
}
