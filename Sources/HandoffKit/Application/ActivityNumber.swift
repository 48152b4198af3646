// SPDX-License-Identifier: LGPL-2.1-or-later

/// Stands for an activity of this application, whatever broker there is.
package struct ActivityNumber: Hashable, Sendable {
    /// The number.
    package let value: UInt64

    /// The activity of this number.
    package init(_ value: UInt64) { self.value = value }
}
