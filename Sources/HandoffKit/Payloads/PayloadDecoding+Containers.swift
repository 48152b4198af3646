// SPDX-License-Identifier: LGPL-2.1-or-later

/// What has properties is decoded from this.
struct PayloadKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: PayloadDecoder
    let entries: [String: UserInfoValue]
    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { entries.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { entries[key.stringValue] != nil }

    private func decoder(for key: any CodingKey) throws -> PayloadDecoder {
        guard let value = entries[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "There is none."))
        }
        return decoder.inside(key, value)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try decoder(for: key).value == .null }

    func decode<Wanted: Decodable>(_ type: Wanted.Type, forKey key: Key) throws -> Wanted {
        try decoder(for: key).decode(type)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { try decoder(for: key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(for: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder(for: PayloadKey.ofSuper) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(for: key) }
}

/// An array is decoded from this.
struct PayloadUnkeyedDecoding: UnkeyedDecodingContainer {
    let decoder: PayloadDecoder
    let elements: [UserInfoValue]
    var codingPath: [any CodingKey] { decoder.codingPath }
    private(set) var currentIndex = 0
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    init(decoder: PayloadDecoder, elements: [UserInfoValue]) {
        self.decoder = decoder
        self.elements = elements
    }

    private func current(_ type: Any.Type) throws -> PayloadDecoder {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type,
                DecodingError.Context(
                    codingPath: codingPath + [PayloadKey(currentIndex)], debugDescription: "The array ends."))
        }
        return decoder.inside(PayloadKey(currentIndex), elements[currentIndex])
    }

    mutating func decodeNil() throws -> Bool {
        guard try current(Any?.self).value == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Wanted: Decodable>(_ type: Wanted.Type) throws -> Wanted {
        let value = try current(type).decode(type)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let container = try current(UserInfo.self).container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try current([UserInfoValue].self).unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try current((any Decoder).self)
        currentIndex += 1
        return decoder
    }
}

/// A single value is decoded from this.
struct PayloadSingleDecoding: SingleValueDecodingContainer {
    let decoder: PayloadDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.value == .null }
    func decode<Wanted: Decodable>(_ type: Wanted.Type) throws -> Wanted { try decoder.decode(type) }
    func decode(_ type: Bool.Type) throws -> Bool { try decoder.convert(type) }
    func decode(_ type: String.Type) throws -> String { try decoder.convert(type) }
    func decode(_ type: Double.Type) throws -> Double { try decoder.convert(type) }
    func decode(_ type: Float.Type) throws -> Float { try decoder.convert(type) }
    func decode(_ type: Int.Type) throws -> Int { try decoder.convert(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoder.convert(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoder.convert(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoder.convert(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoder.convert(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try decoder.convert(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.convert(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.convert(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.convert(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.convert(type) }
}
