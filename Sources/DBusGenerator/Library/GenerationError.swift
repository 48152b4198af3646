// SPDX-License-Identifier: LGPL-2.1-or-later

/// Why no code is generated: what is wrong in which line of which file.
///
/// Its description has the form of a compiler's error, so that build tools show it as one.
package struct GenerationError: Error, Equatable, CustomStringConvertible {
    /// The file as it was named to the generator.
    package let path: String
    /// The line, counted from 1.
    package let line: Int
    /// What is wrong, with which value, and what is expected.
    package let reason: String

    package var description: String { "\(path):\(line):1: error: \(reason)" }
}
