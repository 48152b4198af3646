// SPDX-License-Identifier: LGPL-2.1-or-later
public import FoundationEssentials

/// The state that the continuing application needs, in the application's own keys, with exact types.
public struct UserInfo: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// The entries.
    public var entries: [String: UserInfoValue]

    /// No entries.
    public init() { entries = [:] }

    /// These entries.
    public init(_ entries: [String: UserInfoValue]) { self.entries = entries }

    public init(dictionaryLiteral elements: (String, UserInfoValue)...) {
        entries = Dictionary(elements) { _, last in last }
    }

    /// The value of `key`, nil for none.
    public subscript(key: String) -> UserInfoValue? {
        get { entries[key] }
        set { entries[key] = newValue }
    }
}

/// One value of a ``UserInfo``.
public indirect enum UserInfoValue: Hashable, Sendable {
    case string(String)
    case boolean(Bool)
    case byte(UInt8)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case data(Data)
    case date(Date)
    case url(URL)
    /// An array of values of any kinds (`av`).
    case array([UserInfoValue])
    /// An array whose elements all have the D-Bus type that `of` names.
    case typedArray(of: String, [UserInfoValue])
    /// A dictionary of values of any kinds (`a{sv}`).
    case dictionary([String: UserInfoValue])
    /// A dictionary whose values all have the D-Bus type that `of` names.
    case typedDictionary(of: String, [String: UserInfoValue])
    case set(Set<UserInfoValue>)
    case null
}

extension UserInfoValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(integerLiteral value: Int64) { self = .int64(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(arrayLiteral elements: UserInfoValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, UserInfoValue)...) {
        self = .dictionary(Dictionary(elements) { _, last in last })
    }
    public init(nilLiteral: ()) { self = .null }
}
