// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore

/// Why something was refused or went wrong: a code for programs, and for people a message that says what was wrong, with
/// which value, and what to do. The codes are the errors of the interfaces by name.
public struct HandoffError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is. There may be more of them one day, so that a `switch` needs a `default`.
    ///
    /// ```swift
    /// do {
    ///     try activity.set(\.userInfo, to: state)
    /// } catch HandoffError.Code.userInfoTooLarge {
    ///     …
    /// }
    /// ```
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let failure: HandoffFailure.Code

        init(_ failure: HandoffFailure.Code) { self.failure = failure }

        /// What the interfaces call it.
        var failureCode: HandoffFailure.Code { failure }

        /// Its name.
        public var description: String { "\(failure)" }

        /// A value is malformed or does not fit the others.
        public static let invalidArguments = Code(.invalidArguments)
        /// The application may not do this.
        public static let accessDenied = Code(.accessDenied)
        /// The activity or continuation is over, or never was.
        public static let unknownObject = Code(.unknownObject)
        /// A quota is used up.
        public static let limitsExceeded = Code(.limitsExceeded)
        /// This cannot be done here.
        public static let notSupported = Code(.notSupported)
        /// The application has not registered.
        public static let notRegistered = Code(.notRegistered)
        /// The application did not declare the type of the activity.
        public static let typeNotDeclared = Code(.typeNotDeclared)
        /// The ``UserInfo`` is larger than allowed.
        public static let userInfoTooLarge = Code(.userInfoTooLarge)
        /// A URL is not of the kind that is allowed.
        public static let invalidURL = Code(.invalidURL)
        /// The user has switched Handoff off.
        public static let disabled = Code(.disabled)
        /// No application can continue the activity.
        public static let noApplication = Code(.noApplication)
        /// The application did not register or answer in time.
        public static let applicationTimedOut = Code(.applicationTimedOut)
        /// The application refused, failed, or went away.
        public static let applicationFailed = Code(.applicationFailed)
        /// The other device, the broker or the other end of a stream cannot be reached.
        public static let connectionUnavailable = Code(.connectionUnavailable)
        /// What the user chose is no longer offered.
        public static let offerWithdrawn = Code(.offerWithdrawn)
        /// The activity has no streams.
        public static let streamsNotSupported = Code(.streamsNotSupported)
        /// The other device is not paired.
        public static let notPaired = Code(.notPaired)
        /// Pairing did not succeed.
        public static let pairingFailed = Code(.pairingFailed)
        /// The user has cancelled the continuation, or the task that waited was cancelled.
        public static let cancelled = Code(.cancelled)

        /// Whether `error` is a ``HandoffError`` of this kind, for `catch` and `switch`.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? HandoffError)?.code == code
        }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What was wrong, with which value, and what to do.
    public let message: String
    /// The properties of the ``UserActivity`` that were refused, by their names there, such as `userInfo`; empty if it is not
    /// about any.
    public private(set) var properties: [String] = []

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
        HandoffFailure(code.failureCode, message)
    }

    /// The same, about these properties of `org.example.Handoff.Activity`.
    @MainActor
    func about(_ names: [String]) -> HandoffError {
        var error = self
        error.properties = names.compactMap { UserActivity.propertyName($0) }.sorted()
        return error
    }

    /// The task was cancelled.
    static var cancelled: HandoffError {
        HandoffError(.cancelled, "The task was cancelled before this was done.")
    }
}
