// SPDX-License-Identifier: LGPL-2.1-or-later
internal import FoundationEssentials

/// Makes a ``UserInfoValue`` of any `Encodable`. Dates, URLs, data, sets and nil keep their types, and whole numbers
/// their widths.
///
/// A value that would never fit into a `UserInfo`, also one that contains itself, is refused before it takes much
/// memory or stack.
struct PayloadEncoder: Encoder {
    /// How deep containers may nest; the broker allows less.
    static let maximumDepth = 32
    /// How many bytes may be put in; the broker allows less.
    static let maximumSize = 1 << 18

    /// How many bytes are in already, at least.
    final class Budget {
        var left = PayloadEncoder.maximumSize
    }

    /// Where a container or a value ends up that is not complete yet.
    final class Place {
        enum Content {
            case nothing
            case value(UserInfoValue)
            case keyed([String: Place])
            case unkeyed([Place])
        }

        var content = Content.nothing

        /// What is there now; nil if nothing was encoded.
        var value: UserInfoValue? {
            switch content {
            case .nothing: nil
            case .value(let value): value
            case .keyed(let places): .dictionary(places.mapValues { $0.value ?? .dictionary([:]) })
            case .unkeyed(let places): .array(places.map { $0.value ?? .dictionary([:]) })
            }
        }
    }

    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    let place: Place
    let budget: Budget

    /// `value` as a value of a ``UserInfo``.
    static func encode(_ value: some Encodable) throws(HandoffError) -> UserInfoValue {
        let encoder = PayloadEncoder(codingPath: [], place: Place(), budget: Budget())
        do {
            try encoder.put(value)
        } catch {
            throw PayloadFailure.of(error)
        }
        return encoder.place.value ?? .dictionary([:])
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .keyed = place.content {} else { place.content = .keyed([:]) }
        return KeyedEncodingContainer(PayloadKeyedEncoding<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .unkeyed = place.content {} else { place.content = .unkeyed([]) }
        return PayloadUnkeyedEncoding(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { PayloadSingleEncoding(encoder: self) }

    /// An encoder for what is in this one's container under `key`.
    func inside(_ key: any CodingKey, _ place: Place) -> PayloadEncoder {
        PayloadEncoder(codingPath: codingPath + [key], place: place, budget: budget)
    }

    /// A place for `key` in the container.
    func place(for key: any CodingKey) -> Place {
        let new = Place()
        budget.left -= 8 + key.stringValue.utf8.count
        if case .keyed(var places) = place.content {
            // Otherwise the dictionary would be copied.
            place.content = .nothing
            places[key.stringValue] = new
            place.content = .keyed(places)
        }
        return new
    }

    /// A place at the end of the container.
    func nextPlace() -> Place {
        let new = Place()
        budget.left -= 4
        if case .unkeyed(var places) = place.content {
            place.content = .nothing
            places.append(new)
            place.content = .unkeyed(places)
        }
        return new
    }

    /// How many elements the container has.
    var count: Int { if case .unkeyed(let places) = place.content { places.count } else { 0 } }

    /// Puts `value` here.
    func put(_ value: some Encodable) throws {
        guard codingPath.count <= Self.maximumDepth else {
            throw HandoffError(
                .invalidArguments,
                "The payload nests more than \(Self.maximumDepth) containers at \(PayloadFailure.path(codingPath))."
                    + " Flatten it.")
        }
        try checkSize()
        switch value {
        case let value as UserInfoValue: try set(value)
        case let date as Date:
            _ = try UserInfoValue.microseconds(of: date)
            try set(.date(date))
        case let url as URL: try set(.url(url))
        case let data as Data: try set(.data(data))
        case let set as any EncodableSet: try put(set)
        default: try value.encode(to: self)
        }
    }

    /// Puts a set here, each of whose elements is encoded by itself.
    private func put(_ set: any EncodableSet) throws {
        var elements: Set<UserInfoValue> = []
        for (index, element) in set.encodableElements.enumerated() {
            let inner = inside(PayloadKey(index), Place())
            try inner.put(element)
            elements.insert(inner.place.value ?? .dictionary([:]))
        }
        try self.set(.set(elements))
    }

    /// Puts `value`, which is complete, here.
    func set(_ value: UserInfoValue) throws {
        budget.left -= 4 + Self.length(of: value)
        try checkSize()
        place.content = .value(value)
    }

    private func checkSize() throws {
        guard budget.left >= 0 else {
            throw HandoffError(
                .userInfoTooLarge,
                "The payload takes more than \(Self.maximumSize) bytes. Send less, or the bulk of it through a stream."
            )
        }
    }

    private static func length(of value: UserInfoValue) -> Int {
        switch value {
        case .string(let text): text.utf8.count
        case .data(let data): data.count
        case .url(let url): url.absoluteString.utf8.count
        default: 0
        }
    }
}

/// A set, seen as what can be encoded.
protocol EncodableSet {
    /// The elements, in any order.
    var encodableElements: [any Encodable] { get }
}

extension Set: EncodableSet where Element: Encodable {
    var encodableElements: [any Encodable] { Array(self) }
}

/// The place of an element in an array, and of what a superclass encodes.
struct PayloadKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ index: Int) {
        stringValue = "\(index)"
        intValue = index
    }

    init?(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init?(intValue: Int) { self.init(intValue) }

    /// Under which a superclass is kept.
    static let ofSuper = PayloadKey(named: "super")

    private init(named name: String) {
        stringValue = name
        intValue = nil
    }
}
