// SPDX-License-Identifier: LGPL-2.1-or-later

/// The grammars of names (D-Bus Specification, "Valid Names" and "Valid Object Paths"), as libdbus takes them.
enum NameCheck {
    private static let maximumLength = 255
    private static let dot = UInt8(ascii: "."), slash = UInt8(ascii: "/"), colon = UInt8(ascii: ":")

    /// Letters and the underscore.
    private static func isInitial(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
    }

    private static func isInner(_ byte: UInt8) -> Bool {
        isInitial(byte) || byte &- UInt8(ascii: "0") < 10
    }

    private static func isInBusName(_ byte: UInt8) -> Bool { isInner(byte) || byte == UInt8(ascii: "-") }

    /// Whether `text` is an object path.
    static func isPath(_ text: Span<UInt8>) -> Bool {
        guard !text.isEmpty, text[0] == slash else { return false }
        var isAfterSlash = true
        for index in 1..<max(1, text.count) {
            if text[index] == slash {
                guard !isAfterSlash else { return false }
                isAfterSlash = true
            } else {
                guard isInner(text[index]) else { return false }
                isAfterSlash = false
            }
        }
        return !isAfterSlash || text.count == 1
    }

    /// Whether `text` is the name of an interface or of an error.
    static func isInterface(_ text: Span<UInt8>) -> Bool {
        isDotted(text, initial: isInitial, inner: isInner)
    }

    /// Whether `text` is the name of a method, signal or property.
    static func isMember(_ text: Span<UInt8>) -> Bool {
        guard !text.isEmpty, text.count <= maximumLength, isInitial(text[0]) else { return false }
        for index in 1..<max(1, text.count) where !isInner(text[index]) { return false }
        return true
    }

    /// Whether `text` is the name of a connection, unique or not.
    static func isBusName(_ text: Span<UInt8>) -> Bool {
        guard !text.isEmpty, text.count <= maximumLength else { return false }
        guard text[0] == colon else {
            return isDotted(
                text, initial: { isInitial($0) || $0 == UInt8(ascii: "-") }, inner: isInBusName)
        }
        var index = 1
        while index < text.count {
            if text[index] == dot { index += 1 }
            guard index < text.count, isInBusName(text[index]) else { return false }
            index += 1
        }
        return true
    }

    /// Whether `text` has at least two elements with dots between them.
    private static func isDotted(
        _ text: Span<UInt8>, initial: (UInt8) -> Bool, inner: (UInt8) -> Bool
    ) -> Bool {
        guard !text.isEmpty, text.count <= maximumLength, initial(text[0]) else { return false }
        var (index, hasDot) = (1, false)
        while index < text.count {
            if text[index] == dot {
                hasDot = true
                index += 1
                guard index < text.count, initial(text[index]) else { return false }
            } else if !inner(text[index]) {
                return false
            }
            index += 1
        }
        return hasDot
    }
}
