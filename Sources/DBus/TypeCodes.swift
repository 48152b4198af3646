// SPDX-License-Identifier: LGPL-2.1-or-later

/// libdbus's type codes: its DBUS_TYPE_ constants are casts of character literals, which Swift does not import.
enum TypeCode {
    static let invalid: Int32 = 0
    static let byte: Int32 = 121  // y
    static let boolean: Int32 = 98  // b
    static let int16: Int32 = 110  // n
    static let uint16: Int32 = 113  // q
    static let int32: Int32 = 105  // i
    static let uint32: Int32 = 117  // u
    static let int64: Int32 = 120  // x
    static let uint64: Int32 = 116  // t
    static let double: Int32 = 100  // d
    static let string: Int32 = 115  // s
    static let objectPath: Int32 = 111  // o
    static let signature: Int32 = 103  // g
    static let fileDescriptor: Int32 = 104  // h
    static let array: Int32 = 97  // a
    static let variant: Int32 = 118  // v
    static let structure: Int32 = 114  // r
    static let dictionaryEntry: Int32 = 101  // e
}
