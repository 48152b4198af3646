// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport

/// The adapter `media`.
package enum MediaAdapter {
    /// It as a program.
    package static let program = AdapterProgram("media") { _ in 1 }
}
