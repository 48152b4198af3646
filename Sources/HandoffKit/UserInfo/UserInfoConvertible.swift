// SPDX-License-Identifier: LGPL-2.1-or-later
public import FoundationEssentials

/// A type whose values can be in a ``UserInfo``.
public protocol UserInfoConvertible {
    /// The value of this type that `value` is; nil if it is of another type, or does not fit.
    init?(userInfoValue value: UserInfoValue)
    /// This as a value of a ``UserInfo``.
    var userInfoValue: UserInfoValue { get }
}

extension UserInfoValue: UserInfoConvertible {
    /// `value` itself.
    public init?(userInfoValue value: UserInfoValue) { self = value }
    /// Itself.
    public var userInfoValue: UserInfoValue { self }
}

extension UserInfoValue {
    /// The whole number that this is, of whatever width, if it fits.
    func integer<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        switch self {
        case .byte(let number): Number(exactly: number)
        case .int16(let number): Number(exactly: number)
        case .uint16(let number): Number(exactly: number)
        case .int32(let number): Number(exactly: number)
        case .uint32(let number): Number(exactly: number)
        case .int64(let number): Number(exactly: number)
        case .uint64(let number): Number(exactly: number)
        case .variant(let content): content.integer(Number.self)
        default: nil
        }
    }

    /// The number that this is, if it can be had with double precision.
    var number: Double? {
        if case .double(let number) = self { return number }
        if case .variant(let content) = self { return content.number }
        return integer(Int64.self).flatMap { Double(exactly: $0) }
            ?? integer(UInt64.self).flatMap { Double(exactly: $0) }
    }

    /// The elements of an array or a set; those of data are its bytes.
    var elements: [UserInfoValue]? {
        switch self {
        case .array(let elements), .typedArray(of: _, let elements): elements
        case .set(let elements): Array(elements)
        case .data(let data): data.map { .byte($0) }
        case .variant(let content): content.elements
        default: nil
        }
    }

    /// The entries of a dictionary.
    var entries: [String: UserInfoValue]? {
        switch self {
        case .dictionary(let entries), .typedDictionary(of: _, let entries): entries
        case .variant(let content): content.entries
        default: nil
        }
    }
}

extension String: UserInfoConvertible {
    /// The text that `value` is.
    public init?(userInfoValue value: UserInfoValue) {
        guard case .string(let text) = value else { return nil }
        self = text
    }
    /// A text.
    public var userInfoValue: UserInfoValue { .string(self) }
}

extension Bool: UserInfoConvertible {
    /// The yes or no that `value` is.
    public init?(userInfoValue value: UserInfoValue) {
        guard case .boolean(let content) = value else { return nil }
        self = content
    }
    /// Yes or no.
    public var userInfoValue: UserInfoValue { .boolean(self) }
}

extension Double: UserInfoConvertible {
    /// The number that `value` is, also a whole one.
    public init?(userInfoValue value: UserInfoValue) {
        guard let number = value.number else { return nil }
        self = number
    }
    /// A number of double precision.
    public var userInfoValue: UserInfoValue { .double(self) }
}

extension Float: UserInfoConvertible {
    /// The number that `value` is, if it can be had with single precision.
    public init?(userInfoValue value: UserInfoValue) {
        guard let number = value.number else { return nil }
        guard !number.isNaN else {
            self = .nan
            return
        }
        guard let single = Float(exactly: number) else { return nil }
        self = single
    }
    /// A number of double precision.
    public var userInfoValue: UserInfoValue { .double(Double(self)) }
}

extension Data: UserInfoConvertible {
    /// The bytes that `value` is.
    public init?(userInfoValue value: UserInfoValue) {
        guard case .data(let data) = value else { return nil }
        self = data
    }
    /// Bytes.
    public var userInfoValue: UserInfoValue { .data(self) }
}

extension Date: UserInfoConvertible {
    /// The point in time that `value` is.
    public init?(userInfoValue value: UserInfoValue) {
        switch value {
        case .date(let date): self = date
        case .tagged("date", .int64(let microseconds)): self.init(microseconds: microseconds)
        default: return nil
        }
    }
    /// A point in time.
    public var userInfoValue: UserInfoValue { .date(self) }
}

extension URL: UserInfoConvertible {
    /// The URL that `value` is.
    public init?(userInfoValue value: UserInfoValue) {
        guard case .url(let url) = value else { return nil }
        self = url
    }
    /// A URL.
    public var userInfoValue: UserInfoValue { .url(self) }
}

extension Array: UserInfoConvertible where Element: UserInfoConvertible {
    /// The array that `value` is, if each of its elements is of the right type.
    public init?(userInfoValue value: UserInfoValue) {
        guard let elements = value.elements else { return nil }
        let converted = elements.compactMap { Element(userInfoValue: $0) }
        guard converted.count == elements.count else { return nil }
        self = converted
    }
    /// An array of values of any kinds.
    public var userInfoValue: UserInfoValue { .array(map(\.userInfoValue)) }
}

extension Set: UserInfoConvertible where Element: UserInfoConvertible {
    /// The set or the array that `value` is, if each of its elements is of the right type.
    public init?(userInfoValue value: UserInfoValue) {
        guard let elements = [Element](userInfoValue: value) else { return nil }
        self = Set(elements)
    }
    /// A set.
    public var userInfoValue: UserInfoValue { .set(Set<UserInfoValue>(map(\.userInfoValue))) }
}

extension Dictionary: UserInfoConvertible where Key == String, Value: UserInfoConvertible {
    /// The dictionary that `value` is, if each of its values is of the right type.
    public init?(userInfoValue value: UserInfoValue) {
        guard let entries = value.entries else { return nil }
        let converted = entries.compactMapValues { Value(userInfoValue: $0) }
        guard converted.count == entries.count else { return nil }
        self = converted
    }
    /// A dictionary of values of any kinds.
    public var userInfoValue: UserInfoValue { .dictionary(mapValues(\.userInfoValue)) }
}
