// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import TestSupport
import Testing

/// A descriptor that somebody else closes, and what is open by it and nothing else.
struct OpenDescriptor {
    let number: Int32
    let file: OpenFile

    /// Descriptors of as many files.
    static func several(_ count: Int) throws -> [OpenDescriptor] {
        try (0..<count).map { _ in
            let ends = try FileDescriptor.socketPair()
            let number = ends.theirs.take()
            return OpenDescriptor(number: number, file: try #require(OpenFile(number)))
        }
    }
}

/// Writes one byte to `descriptor`.
func writeByte(to descriptor: Int32) throws(DBusError) {
    var byte = UInt8(ascii: "x")
    guard send(descriptor, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 else {
        throw DBusError(.failed, "nothing can be written to the descriptor")
    }
}

/// Reads one byte from `descriptor`: nil for the end or an error.
func readByte(from descriptor: Int32) -> UInt8? {
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) == 1 ? byte : nil
}
