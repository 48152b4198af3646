// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// Another program in the place of this one.
package enum ProgramExchange {
    /// Becomes the program at `path`, with these words as its arguments, its own name first. It returns only if that is not
    /// possible; then `errno` says why.
    package static func become(_ path: String, _ words: [String]) {
        let list = words.map { strdup($0) } + [nil]
        defer { for word in list { free(word) } }
        execv(path, list)
    }
}
