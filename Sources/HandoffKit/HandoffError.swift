// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore

/// Why something was refused or went wrong: a code for programs, and for people a message that says what was wrong, with
/// which value, and what to do. The codes are the errors of the interfaces by name.
public struct HandoffError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        case invalidArguments, accessDenied, unknownObject, limitsExceeded, notSupported, notRegistered
        case typeNotDeclared, userInfoTooLarge, invalidURL, disabled, noApplication, applicationTimedOut
        case applicationFailed, connectionUnavailable, offerWithdrawn, streamsNotSupported, notPaired,
            pairingFailed
    }

    /// What kind of failure it is.
    public let code: Code
    /// What was wrong, with which value, and what to do.
    public let message: String

    /// An error of an application's own, for example for an activity that this version cannot restore.
    public init(_ code: Code = .applicationFailed, _ message: String) {
        self.code = code
        self.message = message
    }

    package init(_ failure: HandoffFailure) {
        code = Code(rawValue: "\(failure.code)") ?? .applicationFailed
        message = failure.message
    }

    /// The message.
    public var description: String { message }
}
