// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

extension String {
    /// Whether it contains a NUL, which C would take for its end.
    var holdsNUL: Bool {
        // The standard library would compare the bytes one by one.
        utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        } ?? utf8.contains(0)
    }
}
