// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport

/// The adapter `shell`.
package enum ShellAdapter {
    /// It as a program.
    package static let program = AdapterProgram("shell") { _ in 1 }
}
