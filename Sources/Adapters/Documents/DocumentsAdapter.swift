// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport

/// The adapter `documents`.
package enum DocumentsAdapter {
    /// It as a program.
    package static let program = AdapterProgram("documents") { _ in 1 }
}
