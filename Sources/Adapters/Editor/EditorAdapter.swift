// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport

/// Placeholder.
package enum EditorAdapter: AdapterProgram {
    package static let name = "editor"
    package static func run(_ arguments: [String]) -> Int32 { 1 }
}
