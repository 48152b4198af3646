// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is released together: the daemons and the command line.
package enum Release {
    /// The version that `--version` prints.
    package static let version = "0.1.0"
}
