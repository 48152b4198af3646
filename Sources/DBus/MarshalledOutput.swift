// SPDX-License-Identifier: LGPL-2.1-or-later

/// Puts values into bytes, one after the other (D-Bus Specification, "Marshaling"), the least significant byte of a
/// number first.
struct MarshalledOutput {
    /// What has been written; values are aligned relative to its beginning.
    private(set) var bytes: [UInt8] = []

    /// Nothing yet, with room for `capacity` bytes.
    init(capacity: Int = 0) { if capacity > 0 { bytes.reserveCapacity(capacity) } }

    /// What `bytes` hold, to be continued.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Appends padding.
    mutating func align(_ boundary: Int) {
        let padding = -bytes.count & (boundary - 1)
        for _ in 0..<padding { bytes.append(0) }
    }

    /// Appends a byte.
    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    /// Appends bytes as they are.
    mutating func append(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    /// Appends a number.
    mutating func append(integer value: some FixedWidthInteger & BitwiseCopyable) {
        align(MemoryLayout.size(ofValue: value))
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends a string or an object path.
    mutating func append(text: String) {
        append(integer: UInt32(truncatingIfNeeded: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
        bytes.append(0)
    }

    /// Appends a signature, which has at most 255 characters.
    mutating func append(signature: String) {
        bytes.append(UInt8(truncatingIfNeeded: signature.utf8.count))
        bytes.append(contentsOf: signature.utf8)
        bytes.append(0)
    }

    /// Replaces the four bytes at `offset`, which exist, with a number.
    mutating func replace(at offset: Int, with number: UInt32) {
        withUnsafeBytes(of: number.littleEndian) { four in
            for index in 0..<4 { bytes[offset + index] = four[index] }
        }
    }
}
