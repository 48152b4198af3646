// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore

/// Why something was refused or went wrong: a code for programs, and for people a message that says what was wrong, with
/// which value, and what to do. The codes are the errors of the interfaces by name.
public struct HandoffError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// A value is malformed or does not fit the others.
        case invalidArguments
        /// The application may not do this.
        case accessDenied
        /// The activity or continuation is over, or never was.
        case unknownObject
        /// A quota is used up.
        case limitsExceeded
        /// This cannot be done here.
        case notSupported
        /// The application has not registered.
        case notRegistered
        /// The application did not declare the type of the activity.
        case typeNotDeclared
        /// The ``UserInfo`` is larger than allowed.
        case userInfoTooLarge
        /// A URL is not of the kind that is allowed.
        case invalidURL
        /// The user has switched Handoff off.
        case disabled
        /// No application can continue the activity.
        case noApplication
        /// The application did not register or answer in time.
        case applicationTimedOut
        /// The application refused, failed, or went away.
        case applicationFailed
        /// The other device, the broker or the other end of a stream cannot be reached.
        case connectionUnavailable
        /// What the user chose is no longer offered.
        case offerWithdrawn
        /// The activity has no streams.
        case streamsNotSupported
        /// The other device is not paired.
        case notPaired
        /// Pairing did not succeed.
        case pairingFailed
        /// The user has cancelled the continuation, or the task that waited was cancelled.
        case cancelled
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

    /// The message.
    public var description: String { message }
}

extension HandoffError {
    /// What the broker has answered.
    package init(_ failure: HandoffFailure) {
        self.init(Code(failure.code), failure.message)
    }

    /// Any error of a call.
    package init(_ error: any Error) {
        switch error {
        case let error as HandoffError: self = error
        case let failure as HandoffFailure: self.init(failure)
        case is CancellationError: self = .cancelled
        default: self.init(.applicationFailed, "\(error)")
        }
    }

    /// The same as the interfaces name it.
    package var failure: HandoffFailure {
        HandoffFailure(
            HandoffFailure.Code.allCases.first { Code($0) == code } ?? .applicationFailed, message)
    }

    /// The task was cancelled.
    static var cancelled: HandoffError {
        HandoffError(.cancelled, "The task was cancelled before this was done.")
    }
}

extension HandoffError.Code {
    /// One case for each: who adds a failure is told by the compiler.
    init(_ code: HandoffFailure.Code) {
        self =
            switch code {
            case .invalidArguments: .invalidArguments
            case .accessDenied: .accessDenied
            case .unknownObject: .unknownObject
            case .limitsExceeded: .limitsExceeded
            case .notSupported: .notSupported
            case .notRegistered: .notRegistered
            case .typeNotDeclared: .typeNotDeclared
            case .userInfoTooLarge: .userInfoTooLarge
            case .invalidURL: .invalidURL
            case .disabled: .disabled
            case .noApplication: .noApplication
            case .applicationTimedOut: .applicationTimedOut
            case .applicationFailed: .applicationFailed
            case .connectionUnavailable: .connectionUnavailable
            case .offerWithdrawn: .offerWithdrawn
            case .streamsNotSupported: .streamsNotSupported
            case .notPaired: .notPaired
            case .pairingFailed: .pairingFailed
            case .cancelled: .cancelled
            }
    }
}
