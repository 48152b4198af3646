// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus

/// A page of a document, counted from 1: whoever says it may say anything, so it is checked.
package struct PageNumber: Hashable, Sendable, CustomStringConvertible {
    /// The number.
    package let number: Int

    /// The pages that a document may have.
    package static let range = 1...100_000

    /// The page `number`; nil if no document has that many.
    package init?(_ number: Int64) {
        guard let number = Int(exactly: number), Self.range.contains(number) else { return nil }
        self.number = number
    }

    /// The page that comes after `index` others; nil if no document has that many.
    package init?(index: Int64) {
        guard index >= 0, index < Self.range.upperBound else { return nil }
        self.init(index + 1)
    }

    /// The page that `value` says, a whole number of any type; nil if it is none.
    package init?(_ value: Value?) {
        switch value {
        case .byte(let number): self.init(Int64(number))
        case .int16(let number): self.init(Int64(number))
        case .uint16(let number): self.init(Int64(number))
        case .int32(let number): self.init(Int64(number))
        case .uint32(let number): self.init(Int64(number))
        case .int64(let number): self.init(number)
        case .uint64(let number):
            guard let number = Int64(exactly: number) else { return nil }
            self.init(number)
        default: return nil
        }
    }

    /// How many pages come before it.
    package var index: Int { number - 1 }

    /// The number.
    package var description: String { "\(number)" }

    /// It in `UserInfo`.
    package var value: Value { .int64(Int64(number)) }
}
