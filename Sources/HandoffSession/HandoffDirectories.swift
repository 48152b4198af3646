// SPDX-License-Identifier: LGPL-2.1-or-later
package import Platform

/// Where the daemons keep the user's files.
package enum HandoffDirectories {
    /// The configuration: `handoff/handoff.conf` in `$XDG_CONFIG_HOME`.
    package static var configurationFile: String { "\(UserDirectories.configuration)/handoff/handoff.conf" }

    /// The file that is there once the user has been told that Handoff is there, and what to do first.
    package static var welcomed: String { "\(UserDirectories.state)/handoff/welcomed" }

    /// The state on this machine: `handoff/MACHINE` in `$XDG_STATE_HOME`.
    /// - Throws: if this machine has no id.
    package static func state() throws(KeyFileError) -> String {
        "\(UserDirectories.state)/handoff/\(try MachineID.folderName())"
    }

    /// The file in the state on this machine that says which documents have been handed off.
    package static let documentsName = "documents"

    /// The file in the state on this machine with what was sent to devices that are away.
    package static let outboxName = "outbox"

    /// The file in the state on this machine that says what others had kept for it.
    package static let keptName = "kept"

    /// The file in the state on this machine that a bridge locks as long as it uses that.
    package static let lockName = "lock"
}
