// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// What a `UserInfo` may hold: plain data that means the same on every device.
///
/// Strings, numbers, booleans, byte arrays, arrays, dictionaries with string keys, and four tagged structures
/// `(sv)`: `("date", x)`, `("url", s)`, `("set", av)`, `("null", b false)`.
enum UserInfoRules {
    /// The bytes that a `UserInfo` may take as the body of a message that holds nothing else.
    static let maximumSize = 131_072
    /// The bytes above which streams are the better way.
    static let comfortableSize = 3 * 1024
    /// How deep a bus lets containers nest beneath a value of `UserInfo`, which counts the entries of dictionaries
    /// too: 64, less what `UserInfo` takes in `ContinueActivity`: array, entry and variant of the activity, and the
    /// same three of its own.
    private static let maximumWireDepth = MessageWriter.maximumDepth - 6
    /// How deep containers may nest: arrays, dictionaries, structures and variants, `UserInfo` itself being 1.
    static let maximumDepth = 32

    /// - Returns: the marshalled size.
    /// - Throws: `InvalidArgs`, naming the key, or `UserInfoTooLarge`, giving both sizes.
    @discardableResult
    static func check(_ userInfo: [String: Value]) throws(HandoffFailure) -> Int {
        let size = MarshalledSize.ofBody(userInfo)
        guard size <= maximumSize else {
            throw HandoffFailure(
                .userInfoTooLarge,
                "UserInfo takes \(size) bytes, more than the \(maximumSize) allowed. Send less, or the bulk of it"
                    + " through a stream.")
        }
        for (key, value) in userInfo {
            // The dictionary is 1, the variant that holds each value 2.
            let reason = refusal(of: value, depth: 2, isTypeChecked: false)
            if let reason = reason ?? (wireDepth(of: value) > maximumWireDepth ? tooDeep : nil) {
                throw HandoffFailure(.invalidArguments, "UserInfo key \"\(PeerText.message(key))\" \(reason)")
            }
        }
        return size
    }

    /// Why `value`, inside `depth` containers, is refused; nil if it is not. `isTypeChecked`: its type is part of
    /// one that has been looked at, which is worth nothing inside a variant.
    private static func refusal(of value: Value, depth: Int, isTypeChecked: Bool) -> String? {
        let inner = depth + 1
        switch value {
        case .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string: return nil
        case .objectPath, .signature:
            return
                "holds a value of type \(value.typeSignature), which means nothing on another device. Use a string."
        case .bytes: return inner > maximumDepth ? tooDeep : nil
        case .array(let array):
            if inner > maximumDepth { return tooDeep }
            return (isTypeChecked ? nil : refusal(ofType: array.elementSignature))
                ?? firstRefusal(in: array.elements, depth: inner)
        case .dictionary(let dictionary):
            if inner > maximumDepth { return tooDeep }
            return (isTypeChecked ? nil : refusal(ofType: value.typeSignature))
                ?? firstRefusal(in: dictionary.entries.map(\.value), depth: inner)
        case .structure(let structure): return refusal(of: structure, depth: inner)
        case .variant(let content):
            return inner > maximumDepth ? tooDeep : refusal(of: content, depth: inner, isTypeChecked: false)
        }
    }

    /// How deep the containers of `value` nest as a bus counts them. Only for values that nest as little as allowed.
    private static func wireDepth(of value: Value) -> Int {
        switch value {
        case .bytes: 1
        case .array(let array): 1 + (array.elements.map(wireDepth).max() ?? 0)
        case .dictionary(let dictionary): 2 + (dictionary.entries.map { wireDepth(of: $0.value) }.max() ?? 0)
        case .structure(let structure): 1 + (structure.fields.map(wireDepth).max() ?? 0)
        case .variant(let content): 1 + wireDepth(of: content)
        default: 0
        }
    }

    private static let tooDeep = "nests more than \(maximumDepth) containers. Flatten it."

    /// The first refusal of `values`, the contents of a container whose type has been looked at.
    private static func firstRefusal(in values: [Value], depth: Int) -> String? {
        for value in values {
            if let reason = refusal(of: value, depth: depth, isTypeChecked: true) { return reason }
        }
        return nil
    }

    /// Why no value of the type `signature` may stand anywhere, not even in an empty array.
    private static func refusal(ofType signature: String) -> String? {
        var rest = signature.utf8[...]
        while let code = rest.popFirst() {
            switch code {
            case UInt8(ascii: "o"), UInt8(ascii: "g"), UInt8(ascii: "h"):
                return "holds values of type \(signature), which mean nothing on another device. Use strings."
            case UInt8(ascii: "(") where !rest.starts(with: "sv)".utf8):
                return
                    "holds a structure of type \(signature). Use a dictionary; only (sv) with a known tag is"
                    + " allowed."
            case UInt8(ascii: "{") where rest.first != UInt8(ascii: "s"):
                return "holds a dictionary of type \(signature), whose keys are not strings. Use string keys."
            default: break
            }
        }
        return nil
    }

    private static func refusal(of structure: StructureValue, depth: Int) -> String? {
        if depth > maximumDepth { return tooDeep }
        guard structure.fields.count == 2, case .string(let tag) = structure.fields[0],
            case .variant(let content) = structure.fields[1]
        else {
            let type = Value.structure(structure).typeSignature
            return
                "holds a structure of type \(type). Use a dictionary; only (sv) with a known tag is allowed."
        }
        if depth + 1 > maximumDepth { return tooDeep }
        switch (tag, content) {
        case ("date", .int64), ("url", .string), ("null", .boolean(false)): return nil
        case ("set", .array(let array)) where array.elementSignature == "v":
            return depth + 2 > maximumDepth ? tooDeep : firstRefusal(in: array.elements, depth: depth + 2)
        case ("date", _), ("url", _), ("null", _), ("set", _):
            return
                "tags a value of type \(content.typeSignature) as \"\(tag)\". Allowed are (\"date\", x), (\"url\", s),"
                + " (\"set\", av) and (\"null\", false)."
        default:
            return "has the unknown tag \"\(PeerText.message(tag))\". Allowed are date, url, set and null."
        }
    }
}
