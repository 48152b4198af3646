// SPDX-License-Identifier: LGPL-2.1-or-later

/// What has properties is encoded into this.
struct PayloadKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: PayloadEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func encoder(for key: any CodingKey) -> PayloadEncoder {
        encoder.inside(key, encoder.place(for: key))
    }

    func encodeNil(forKey key: Key) throws { try encoder(for: key).set(.null) }
    func encode(_ value: some Encodable, forKey key: Key) throws { try encoder(for: key).put(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> { encoder(for: key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(for: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder(for: PayloadKey.ofSuper) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }
}

/// An array is encoded into this.
struct PayloadUnkeyedEncoding: UnkeyedEncodingContainer {
    let encoder: PayloadEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    private func next() -> PayloadEncoder { encoder.inside(PayloadKey(count), encoder.nextPlace()) }

    func encodeNil() throws { try next().set(.null) }
    func encode(_ value: some Encodable) throws { try next().put(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> { next().container(keyedBy: type) }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }
    func superEncoder() -> any Encoder { next() }
}

/// A single value is encoded into this.
struct PayloadSingleEncoding: SingleValueEncodingContainer {
    let encoder: PayloadEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { try encoder.set(.null) }
    func encode(_ value: some Encodable) throws { try encoder.put(value) }
    func encode(_ value: Bool) throws { try encoder.set(.boolean(value)) }
    func encode(_ value: String) throws { try encoder.set(.string(value)) }
    func encode(_ value: Double) throws { try encoder.set(.double(value)) }
    func encode(_ value: Float) throws { try encoder.set(.double(Double(value))) }
    func encode(_ value: Int) throws { try encoder.set(.int64(Int64(value))) }
    func encode(_ value: Int8) throws { try encoder.set(.int16(Int16(value))) }
    func encode(_ value: Int16) throws { try encoder.set(.int16(value)) }
    func encode(_ value: Int32) throws { try encoder.set(.int32(value)) }
    func encode(_ value: Int64) throws { try encoder.set(.int64(value)) }
    func encode(_ value: UInt) throws { try encoder.set(.uint64(UInt64(value))) }
    func encode(_ value: UInt8) throws { try encoder.set(.byte(value)) }
    func encode(_ value: UInt16) throws { try encoder.set(.uint16(value)) }
    func encode(_ value: UInt32) throws { try encoder.set(.uint32(value)) }
    func encode(_ value: UInt64) throws { try encoder.set(.uint64(value)) }
}
