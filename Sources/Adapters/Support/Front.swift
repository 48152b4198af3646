// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffClient

/// Which window of an adapter's applications the user works in.
package enum Front: Equatable, Sendable {
    /// Nobody tells: whatever has changed last counts as what the user is at.
    case unknown
    /// None of them.
    case none
    /// This one.
    case window(FocusedWindow)
}
