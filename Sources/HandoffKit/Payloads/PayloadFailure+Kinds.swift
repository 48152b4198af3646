// SPDX-License-Identifier: LGPL-2.1-or-later
internal import FoundationEssentials

extension PayloadFailure {
    /// What kind of value this is, without the value itself.
    static func kind(of value: UserInfoValue) -> String {
        switch value {
        case .string: "a text"
        case .boolean: "yes or no"
        case .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64: "a whole number"
        case .double: "a number"
        case .data: "data"
        case .date: "a date"
        case .url: "a URL"
        case .array, .typedArray: "an array"
        case .dictionary, .typedDictionary: "a dictionary"
        case .set: "a set"
        case .null: "nothing"
        case .variant(let content): kind(of: content)
        case .tagged: "a date or a URL that does not fit"
        }
    }

    /// What kind of value becomes one of `type`, in the words for the kinds of ``UserInfoValue``; nil if there is none for it.
    static func kind(of type: Any.Type) -> String? {
        switch type {
        case is String.Type: "a text"
        case is Bool.Type: "yes or no"
        case let type as any FixedWidthInteger.Type: wholeNumber(type)
        case is any BinaryFloatingPoint.Type: "a number"
        case is Data.Type, is [UInt8].Type: "data"
        case is Date.Type: "a date"
        case is URL.Type: "a URL"
        case is [UserInfoValue].Type: "an array"
        case is [String: UserInfoValue].Type: "a dictionary"
        case is any EncodableSet.Type: "a set"
        default: nil
        }
    }

    private static func wholeNumber(_ type: any FixedWidthInteger.Type) -> String {
        "a whole number from \(type.min) to \(type.max)"
    }
}
