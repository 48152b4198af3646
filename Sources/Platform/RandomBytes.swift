// SPDX-License-Identifier: LGPL-2.1-or-later

/// Bytes that nobody can predict.
package enum RandomBytes {
    /// `count` random bytes from the kernel.
    package static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
        return Array(bytes.prefix(count))
    }
}

/// Numbers that nobody can predict.
package struct UnpredictableNumbers: RandomNumberGenerator {
    /// The thread sanitizer looks at the place of a generator that is passed on, and an empty one has none.
    private var place: UInt8 = 0

    /// A source of them.
    package init() {}

    /// A number from the kernel.
    package mutating func next() -> UInt64 { .random(in: .min ... .max) }
}
