// SPDX-License-Identifier: LGPL-2.1-or-later

/// Another bridge has the state folder.
struct StateFolderTaken: Error, CustomStringConvertible {
    let path: String

    var description: String {
        "Another bridge is using \(path). End it, or give this one a state folder of its own (XDG_STATE_HOME)."
    }
}
