// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

extension String {
    /// Whether it holds a NUL, where C would take it to end.
    var holdsNUL: Bool {
        // The standard library compares one byte after the other.
        utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        } ?? utf8.contains(0)
    }
}
