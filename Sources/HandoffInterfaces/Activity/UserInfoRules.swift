// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore

/// What a `UserInfo` may hold: plain data that means the same on every device.
///
/// Strings, numbers, booleans, byte arrays, arrays, dictionaries with string keys, and four tagged structures
/// `(sv)`: `("date", x)`, `("url", s)`, `("set", av)`, `("null", b false)`.
package enum UserInfoRules {
    /// The bytes that a `UserInfo` may take as the body of a message that holds nothing else.
    package static let maximumSize = 131_072
    /// The bytes above which streams are the better way.
    package static let comfortableSize = 3 * 1024
    /// How deep a bus lets containers nest beneath a value of `UserInfo`, which counts the entries of dictionaries
    /// too: 64, less what `UserInfo` takes in `ContinueActivity`: array, entry and variant of the activity, and the
    /// same three of its own.
    private static let maximumWireDepth = MessageWriter.maximumDepth - 6
    /// How deep containers may nest: arrays, dictionaries, structures and variants, `UserInfo` itself being 1.
    package static let maximumDepth = 32

    /// The tag of URLs.
    package static let urlTag = "url"

    /// How deep something lies.
    private struct Depth {
        /// In containers as the rule counts them.
        private var containers: Int
        /// In those that a bus counts.
        private var levels: Int

        /// The depth of a value of `UserInfo`: the dictionary is one container, the variant that holds the
        /// value another.
        static let ofValue = Depth(containers: 2, levels: 0)

        /// The depth of the contents of this many more containers, which are this many more `levels` to a
        /// bus.
        func inside(_ containers: Int = 1, levels: Int = 1) -> Depth {
            Depth(containers: self.containers + containers, levels: self.levels + levels)
        }

        var isTooMuch: Bool { containers > maximumDepth || levels > maximumWireDepth }
    }

    /// Checks an `a{sv}`.
    /// - Returns: the marshalled size.
    /// - Throws: `InvalidArgs`, naming the key, or `UserInfoTooLarge`, giving both sizes.
    @discardableResult
    package static func check(_ userInfo: DictionaryValue) throws(HandoffFailure) -> Int {
        let size = MarshalledSize.ofBody(userInfo)
        guard size <= maximumSize else {
            throw HandoffFailure(
                .userInfoTooLarge,
                "UserInfo takes \(size) bytes, more than the \(maximumSize) allowed. Send less, or the bulk of it"
                    + " through a stream.")
        }
        for entry in userInfo.entries {
            guard case .variant(let value) = entry.value,
                let reason = refusal(of: value, at: .ofValue, isTypeChecked: false)
            else { continue }
            throw HandoffFailure(
                .invalidArguments, "UserInfo key \"\(PeerText.message(entry.key.string ?? ""))\" \(reason)")
        }
        return size
    }

    /// Why `value`, at this depth, is refused; nil if it is not. `isTypeChecked`: its type is part of one that has been
    /// looked at, which is worth nothing inside a variant.
    private static func refusal(of value: Value, at depth: Depth, isTypeChecked: Bool) -> String? {
        switch value {
        case .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string: return nil
        case .objectPath, .signature:
            return
                "holds a value of type \(value.typeSignature), which means nothing on another device. Use a string."
        case .bytes: return depth.inside().isTooMuch ? tooDeep : nil
        case .array(let array):
            if depth.inside().isTooMuch { return tooDeep }
            return (isTypeChecked ? nil : refusal(ofType: array.elementSignature))
                ?? firstRefusal(in: array.elements, at: depth.inside())
        case .dictionary(let dictionary):
            // A bus counts the entry too.
            let inner = depth.inside(levels: 2)
            if inner.isTooMuch { return tooDeep }
            if !isTypeChecked, let reason = refusal(ofType: value.typeSignature) { return reason }
            for entry in dictionary.entries {
                if let reason = refusal(of: entry.value, at: inner, isTypeChecked: true) { return reason }
            }
            return nil
        case .structure(let structure): return refusal(of: structure, at: depth.inside())
        case .variant(let content):
            let inner = depth.inside()
            return inner.isTooMuch ? tooDeep : refusal(of: content, at: inner, isTypeChecked: false)
        }
    }

    private static let tooDeep = "nests more than \(maximumDepth) containers. Flatten it."

    /// The first refusal of `values`, the contents of a container whose type has been looked at.
    private static func firstRefusal(in values: [Value], at depth: Depth) -> String? {
        for value in values {
            if let reason = refusal(of: value, at: depth, isTypeChecked: true) { return reason }
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

    /// `depth` is that of its fields.
    private static func refusal(of structure: StructureValue, at depth: Depth) -> String? {
        if depth.isTooMuch { return tooDeep }
        guard structure.fields.count == 2, case .string(let tag) = structure.fields[0],
            case .variant(let content) = structure.fields[1]
        else {
            let type = Value.structure(structure).typeSignature
            return
                "holds a structure of type \(type). Use a dictionary; only (sv) with a known tag is allowed."
        }
        if depth.inside().isTooMuch { return tooDeep }
        switch (tag, content) {
        case ("date", .int64), ("url", .string), ("null", .boolean(false)): return nil
        case ("set", .array(let array)) where array.elementSignature == "v":
            let inner = depth.inside(2, levels: 2)
            return inner.isTooMuch ? tooDeep : firstRefusal(in: array.elements, at: inner)
        case ("date", _), ("url", _), ("null", _), ("set", _):
            return
                "tags a value of type \(content.typeSignature) as \"\(tag)\". Allowed are (\"date\", x), (\"url\", s),"
                + " (\"set\", av) and (\"null\", false)."
        default:
            return "has the unknown tag \"\(PeerText.message(tag))\". Allowed are date, url, set and null."
        }
    }
}
