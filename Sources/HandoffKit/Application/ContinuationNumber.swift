// SPDX-License-Identifier: LGPL-2.1-or-later

/// Stands for a continuation that this application is handed.
package struct ContinuationNumber: Hashable, Sendable {
    /// The number.
    package let value: UInt64

    /// The continuation of this number.
    package init(_ value: UInt64) { self.value = value }
}
