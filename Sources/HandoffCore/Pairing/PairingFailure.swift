// SPDX-License-Identifier: LGPL-2.1-or-later

/// Why two devices have not been paired.
package struct PairingFailure: Hashable, Sendable {
    /// What kind of failure it is.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// One of the users has ended it, or has said that the codes differ.
        case ended
        /// Nobody agreed in time.
        case timedOut
        /// The other device cannot be reached, or not any more.
        case disconnected
        /// Handoff was switched off here.
        case disabled
        /// It cannot be stored on this device.
        case notStored
        /// The other device has refused it, or does not keep to the rules.
        case refused
    }

    /// What kind of failure it is.
    package let kind: Kind
    /// What has happened, for people; it may be in the words of the other device, fit to be shown.
    package let message: String

    /// A failure.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
