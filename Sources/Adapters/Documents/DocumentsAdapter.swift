// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport

/// Placeholder.
package enum DocumentsAdapter: AdapterProgram {
    package static let name = "documents"
    package static func run(_ arguments: [String]) -> Int32 { 1 }
}
