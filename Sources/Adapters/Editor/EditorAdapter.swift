// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport

/// The adapter `editor`.
package enum EditorAdapter {
    /// It as a program.
    package static let program = AdapterProgram("editor") { _ in 1 }
}
