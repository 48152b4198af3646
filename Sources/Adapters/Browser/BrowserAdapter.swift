// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport

/// The adapter `browser`.
package enum BrowserAdapter {
    /// It as a program.
    package static let program = AdapterProgram("browser") { _ in 1 }
}
