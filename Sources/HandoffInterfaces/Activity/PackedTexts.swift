// SPDX-License-Identifier: LGPL-2.1-or-later

/// A list of texts without NUL, kept as bytes: as strings, many short texts take several times as much
/// memory.
package struct PackedTexts: Equatable {
    /// Each text and a NUL after it.
    private let bytes: [UInt8]

    /// These texts, by default none.
    package init(_ texts: [String] = []) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(texts.reduce(0) { $0 + $1.utf8.count + 1 })
        for text in texts {
            bytes += text.utf8
            bytes.append(0)
        }
        self.bytes = bytes
    }

    /// Whether there are none, without unpacking them.
    package var isEmpty: Bool { bytes.isEmpty }

    /// The texts, in their order.
    package var texts: [String] {
        bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
