// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// What errno says.
package enum SystemError {
    /// The last error of this thread, in words.
    package static var last: String { text(errno) }

    /// An error number in words.
    package static func text(_ number: Int32) -> String { String(cString: strerror(number)) }
}
