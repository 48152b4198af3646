// SPDX-License-Identifier: LGPL-2.1-or-later

/// Stands for an activity of a client, whatever broker there is. Whoever creates the activity chooses the number, and
/// never uses it again.
package struct ActivityKey: Hashable, Sendable {
    /// The number.
    package let value: UInt64

    /// The activity of this number.
    package init(_ value: UInt64) { self.value = value }
}
