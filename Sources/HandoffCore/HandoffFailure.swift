// SPDX-License-Identifier: LGPL-2.1-or-later

/// Why something was refused or went wrong: a code for programs, and for people a message that says what was
/// wrong, with which value, and what to do.
package struct HandoffFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    package enum Code: Hashable, Sendable, CaseIterable {
        /// An argument is malformed or does not fit the others.
        case invalidArguments
        /// The caller may not do this.
        case accessDenied
        /// There is no such object, or there no longer is.
        case unknownObject
        /// A quota is used up.
        case limitsExceeded
        /// This cannot be done here.
        case notSupported
        /// The caller has not registered an application.
        case notRegistered
        /// The application did not declare the activity type.
        case typeNotDeclared
        /// `UserInfo` is larger than allowed.
        case userInfoTooLarge
        /// A URL is not of the kind that is allowed.
        case invalidURL
        /// The user has switched Handoff off.
        case disabled
        /// No application here can continue the activity.
        case noApplication
        /// The application did not register or answer in time.
        case applicationTimedOut
        /// The application refused, failed, or went away.
        case applicationFailed
        /// The other device cannot be reached.
        case connectionUnavailable
        /// The user has cancelled the continuation.
        case cancelled
        /// What the user chose is no longer offered.
        case offerWithdrawn
        /// The activity or its application takes no streams.
        case streamsNotSupported
        /// The other device is not paired.
        case notPaired
        /// Pairing did not succeed.
        case pairingFailed
    }

    /// What kind of failure it is.
    package let code: Code
    /// What was wrong, with which value, and what to do.
    package let message: String

    /// A failure with a message of our own.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A failure whose message somebody else wrote: it is made fit to be shown and cut to 256 characters.
    package init(_ code: Code, foreignMessage message: String) {
        self.init(code, PeerText.message(message))
    }

    /// The message.
    package var description: String { message }
}
