// SPDX-License-Identifier: LGPL-2.1-or-later
public import FoundationEssentials

/// One value of a ``UserInfo``, with the type that it has on D-Bus.
public indirect enum UserInfoValue: Hashable, Sendable {
    /// A text (`s`), in which NUL cannot be.
    case string(String)
    /// Yes or no (`b`).
    case boolean(Bool)
    /// A whole number of 8 bits without sign (`y`).
    case byte(UInt8)
    /// A whole number of 16 bits (`n`).
    case int16(Int16)
    /// A whole number of 16 bits without sign (`q`).
    case uint16(UInt16)
    /// A whole number of 32 bits (`i`).
    case int32(Int32)
    /// A whole number of 32 bits without sign (`u`).
    case uint32(UInt32)
    /// A whole number of 64 bits (`x`).
    case int64(Int64)
    /// A whole number of 64 bits without sign (`t`).
    case uint64(UInt64)
    /// A number of double precision (`d`).
    case double(Double)
    /// Bytes (`ay`).
    case data(Data)
    /// A point in time, which travels in whole microseconds.
    case date(Date)
    /// A URL. Those of files in shared folders arrive as those of the same files there.
    case url(URL)
    /// An array of values of any kinds (`av`).
    case array([UserInfoValue])
    /// An array whose elements all have the D-Bus type that `of` names.
    case typedArray(of: String, [UserInfoValue])
    /// A dictionary of values of any kinds (`a{sv}`).
    case dictionary([String: UserInfoValue])
    /// A dictionary whose values all have the D-Bus type that `of` names.
    case typedDictionary(of: String, [String: UserInfoValue])
    /// A set of values of any kinds.
    case set(Set<UserInfoValue>)
    /// Nothing, where something could be.
    case null
    /// A value of any kind where it would not have to be one (`v`). Other languages send that; it is only needed to
    /// send the same back.
    case variant(UserInfoValue)
    /// A date or a URL that `Date` or `URL` cannot hold as it is: `date` with the microseconds since 1970 as
    /// ``int64(_:)``, or `url` with its text as ``string(_:)``.
    case tagged(String, UserInfoValue)
}

extension UserInfoValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Yes or no.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// A whole number of 64 bits.
    public init(integerLiteral value: Int64) { self = .int64(value) }
    /// A number of double precision.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// An array of values of any kinds.
    public init(arrayLiteral elements: UserInfoValue...) { self = .array(elements) }
    /// A dictionary of values of any kinds; of a key that comes twice the last counts.
    public init(dictionaryLiteral elements: (String, UserInfoValue)...) {
        self = .dictionary(Dictionary(elements) { _, last in last })
    }
    /// Nothing.
    public init(nilLiteral: ()) { self = .null }

    /// `value` with its own type.
    public init(_ value: some UserInfoConvertible) { self = value.userInfoValue }
}
