// SPDX-License-Identifier: LGPL-2.1-or-later

/// The codes of types in signatures (D-Bus Specification, "Type System"). What begins a structure or a dictionary entry
/// stands for the whole.
enum TypeCode {
    static let invalid: UInt8 = 0
    static let byte = UInt8(ascii: "y")
    static let boolean = UInt8(ascii: "b")
    static let int16 = UInt8(ascii: "n")
    static let uint16 = UInt8(ascii: "q")
    static let int32 = UInt8(ascii: "i")
    static let uint32 = UInt8(ascii: "u")
    static let int64 = UInt8(ascii: "x")
    static let uint64 = UInt8(ascii: "t")
    static let double = UInt8(ascii: "d")
    static let string = UInt8(ascii: "s")
    static let objectPath = UInt8(ascii: "o")
    static let signature = UInt8(ascii: "g")
    static let fileDescriptor = UInt8(ascii: "h")
    static let array = UInt8(ascii: "a")
    static let variant = UInt8(ascii: "v")
    static let structure = UInt8(ascii: "(")
    static let structureEnd = UInt8(ascii: ")")
    static let dictionaryEntry = UInt8(ascii: "{")
    static let dictionaryEntryEnd = UInt8(ascii: "}")

    /// The boundary at which a value of the type `code` begins.
    static func alignment(of code: UInt8) -> Int {
        switch code {
        case byte, signature, variant: 1
        case int16, uint16: 2
        case int64, uint64, double, structure, dictionaryEntry: 8
        default: 4
        }
    }

    /// How many bytes each value of the type `code` takes; nil if that depends on the value.
    static func fixedSize(of code: UInt8) -> Int? {
        switch code {
        case byte: 1
        case int16, uint16: 2
        case boolean, int32, uint32, fileDescriptor: 4
        case int64, uint64, double: 8
        default: nil
        }
    }

    /// Whether a value of the type `code` holds no others, so that it can be the key of a dictionary.
    static func isBasic(_ code: UInt8) -> Bool {
        fixedSize(of: code) != nil || code == string || code == objectPath || code == signature
    }
}
