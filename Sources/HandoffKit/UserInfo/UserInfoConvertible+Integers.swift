// SPDX-License-Identifier: LGPL-2.1-or-later

extension Int: UserInfoConvertible {
    /// The whole number that `value` is, if it fits.
    public init?(userInfoValue value: UserInfoValue) {
        guard let number = value.integer(Int.self) else { return nil }
        self = number
    }
    /// A whole number of 64 bits.
    public var userInfoValue: UserInfoValue { .int64(Int64(self)) }
}

extension Int64: UserInfoConvertible {
    /// The whole number that `value` is, if it fits.
    public init?(userInfoValue value: UserInfoValue) {
        guard let number = value.integer(Int64.self) else { return nil }
        self = number
    }
    /// A whole number of 64 bits.
    public var userInfoValue: UserInfoValue { .int64(self) }
}

extension Int32: UserInfoConvertible {
    /// The whole number that `value` is, if it fits.
    public init?(userInfoValue value: UserInfoValue) {
        guard let number = value.integer(Int32.self) else { return nil }
        self = number
    }
    /// A whole number of 32 bits.
    public var userInfoValue: UserInfoValue { .int32(self) }
}

extension Int16: UserInfoConvertible {
    /// The whole number that `value` is, if it fits.
    public init?(userInfoValue value: UserInfoValue) {
        guard let number = value.integer(Int16.self) else { return nil }
        self = number
    }
    /// A whole number of 16 bits.
    public var userInfoValue: UserInfoValue { .int16(self) }
}

extension Int8: UserInfoConvertible {
    /// The whole number that `value` is, if it fits.
    public init?(userInfoValue value: UserInfoValue) {
        guard let number = value.integer(Int8.self) else { return nil }
        self = number
    }
    /// A whole number of 16 bits, the shortest with a sign.
    public var userInfoValue: UserInfoValue { .int16(Int16(self)) }
}

extension UInt: UserInfoConvertible {
    /// The whole number that `value` is, if it fits.
    public init?(userInfoValue value: UserInfoValue) {
        guard let number = value.integer(UInt.self) else { return nil }
        self = number
    }
    /// A whole number of 64 bits without sign.
    public var userInfoValue: UserInfoValue { .uint64(UInt64(self)) }
}

extension UInt64: UserInfoConvertible {
    /// The whole number that `value` is, if it fits.
    public init?(userInfoValue value: UserInfoValue) {
        guard let number = value.integer(UInt64.self) else { return nil }
        self = number
    }
    /// A whole number of 64 bits without sign.
    public var userInfoValue: UserInfoValue { .uint64(self) }
}

extension UInt32: UserInfoConvertible {
    /// The whole number that `value` is, if it fits.
    public init?(userInfoValue value: UserInfoValue) {
        guard let number = value.integer(UInt32.self) else { return nil }
        self = number
    }
    /// A whole number of 32 bits without sign.
    public var userInfoValue: UserInfoValue { .uint32(self) }
}

extension UInt16: UserInfoConvertible {
    /// The whole number that `value` is, if it fits.
    public init?(userInfoValue value: UserInfoValue) {
        guard let number = value.integer(UInt16.self) else { return nil }
        self = number
    }
    /// A whole number of 16 bits without sign.
    public var userInfoValue: UserInfoValue { .uint16(self) }
}

extension UInt8: UserInfoConvertible {
    /// The whole number that `value` is, if it fits.
    public init?(userInfoValue value: UserInfoValue) {
        guard let number = value.integer(UInt8.self) else { return nil }
        self = number
    }
    /// A whole number of 8 bits.
    public var userInfoValue: UserInfoValue { .byte(self) }
}
