// SPDX-License-Identifier: LGPL-2.1-or-later
internal import FoundationEssentials

/// Makes any `Decodable` of a ``UserInfoValue``, whoever sent it: what does not fit is an error that says where.
struct PayloadDecoder: Decoder {
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    let value: UserInfoValue

    /// The value of `type` that `value` is.
    static func decode<Wanted: Decodable>(
        _ type: Wanted.Type, from value: UserInfoValue
    ) throws(HandoffError) -> Wanted {
        do {
            return try PayloadDecoder(codingPath: [], value: value).decode(type)
        } catch {
            throw PayloadFailure.of(error)
        }
    }

    /// A decoder for what is in this one's value under `key`.
    func inside(_ key: any CodingKey, _ value: UserInfoValue) -> PayloadDecoder {
        PayloadDecoder(codingPath: codingPath + [key], value: value)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try checkDepth()
        guard let entries = value.entries else { throw mismatch([String: UserInfoValue].self) }
        return KeyedDecodingContainer(PayloadKeyedDecoding<Key>(decoder: self, entries: entries))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try checkDepth()
        guard let elements = value.elements else { throw mismatch([UserInfoValue].self) }
        return PayloadUnkeyedDecoding(decoder: self, elements: elements)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        try checkDepth()
        return PayloadSingleDecoding(decoder: self)
    }

    /// The broker lets nothing through that is nested more deeply, but it need not have come from there.
    private func checkDepth() throws {
        guard codingPath.count <= PayloadEncoder.maximumDepth else {
            throw HandoffError(
                .invalidArguments,
                "The payload nests more than \(PayloadEncoder.maximumDepth) containers at"
                    + " \(PayloadFailure.path(codingPath)). Flatten it.")
        }
    }

    /// The value of `type` that is here.
    func decode<Wanted: Decodable>(_ type: Wanted.Type) throws -> Wanted {
        switch type {
        case is UserInfoValue.Type: return try cast(value)
        case is Date.Type: return try cast(try convert(Date.self))
        case is URL.Type: return try cast(try url())
        case is Data.Type: return try cast(try data())
        default: return try Wanted(from: self)
        }
    }

    private func cast<Wanted>(_ value: Any) throws -> Wanted {
        guard let value = value as? Wanted else { throw mismatch(Wanted.self) }
        return value
    }

    /// The value of `type` that is here, if it fits without loss.
    func convert<Wanted: UserInfoConvertible>(_ type: Wanted.Type) throws -> Wanted {
        guard let result = Wanted(userInfoValue: value) else { throw mismatch(type) }
        return result
    }

    /// A URL, also one that is written as a text.
    private func url() throws -> URL {
        if case .string(let text) = value, let url = URL(string: text) { return url }
        return try convert(URL.self)
    }

    /// Bytes, also those of an array of numbers.
    private func data() throws -> Data {
        if let data = Data(userInfoValue: value) { return data }
        return Data(try convert([UInt8].self))
    }

    private func mismatch(_ type: Any.Type) -> DecodingError {
        .typeMismatch(
            type,
            DecodingError.Context(
                codingPath: codingPath, debugDescription: "There is \(PayloadFailure.kind(of: value)).",
                underlyingError: PayloadFailure.Found(value: value)))
    }
}
