// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// The environment of this process.
package enum Variables {
    /// All variables that have a name, by their names.
    package static var all: [String: String] {
        var variables: [String: String] = [:]
        for entry in KeyFile.strings(g_get_environ()) {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, !parts[0].isEmpty { variables[String(parts[0])] = String(parts[1]) }
        }
        return variables
    }
}
