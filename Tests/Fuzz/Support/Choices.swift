// SPDX-License-Identifier: LGPL-2.1-or-later

/// Choices made by the bytes of an input, one after the other. After its end, all choices are 0.
package struct Choices {
    private let bytes: [UInt8]
    private var next = 0

    /// The choices that `bytes` make.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether the input is used up.
    package var isAtEnd: Bool { next >= bytes.count }

    /// A byte.
    package mutating func byte() -> UInt8 {
        guard next < bytes.count else { return 0 }
        defer { next += 1 }
        return bytes[next]
    }

    /// A number from 0 up to but not including `limit`, which is at most 256.
    package mutating func below(_ limit: Int) -> Int { Int(byte()) % limit }

    /// One of `elements`.
    package mutating func one<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }

    /// A number, made from as many bytes as its type has.
    package mutating func integer<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number {
        var number: Number = 0
        for _ in 0..<Number.bitWidth / 8 { number = number << 8 | Number(truncatingIfNeeded: byte()) }
        return number
    }

    /// At most `limit` bytes, of which the first byte taken says how many.
    package mutating func bytes(atMost limit: Int = 255) -> [UInt8] {
        let count = min(below(limit + 1), bytes.count - next)
        defer { next += count }
        return Array(bytes[next..<next + count])
    }

    /// All that is left.
    package mutating func rest() -> [UInt8] {
        defer { next = bytes.count }
        return Array(bytes[next...])
    }

    /// Text of at most `limit` bytes, before whatever is wrong in it is replaced, including NUL, which D-Bus
    /// refuses.
    package mutating func text(atMost limit: Int = 255) -> String {
        String(decoding: bytes(atMost: limit).map { $0 == 0 ? 0xFF : $0 }, as: UTF8.self)
    }
}
