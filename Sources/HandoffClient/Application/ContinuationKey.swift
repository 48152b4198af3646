// SPDX-License-Identifier: LGPL-2.1-or-later

/// Stands for a continuation that a client is handed; never used again.
package struct ContinuationKey: Hashable, Sendable {
    /// The number.
    package let value: UInt64

    /// The continuation of this number.
    package init(_ value: UInt64) { self.value = value }
}
