// SPDX-License-Identifier: LGPL-2.1-or-later

/// Bytes that are no JSON, or more of it than is read. It never quotes them: they may be private.
package struct JSONError: Error, Equatable, CustomStringConvertible {
    /// What is wrong, as a sentence without its full stop.
    package let reason: String
    /// How many bytes before it are right.
    package let offset: Int

    package var description: String { "This is no JSON that is read here: \(reason), at byte \(offset)." }
}
