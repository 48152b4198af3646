// SPDX-License-Identifier: LGPL-2.1-or-later

/// Why the bridge cannot run, for people: what is wrong, where, and what to do.
struct StartFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
