// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces

/// What kind of failure it is, as far as a script may want to tell it from others: the exit status.
enum FailureKind: Int32, CaseIterable {
    /// Anything that has no status of its own.
    case failed = 1
    /// The command line is wrong, or does not say enough.
    case usage = 2
    /// There is no such device, offer or address, or there no longer is.
    case notFound = 3
    /// Somebody or something does not want it: a user, another device, a setting, a quota.
    case refused = 4
    /// No answer came in time, or the other device cannot be reached.
    case timedOut = 5
    /// Handoff is not running, or has ended: no session bus, no broker, no bridge.
    case notRunning = 6

    /// What an error of this D-Bus name is.
    init(_ name: ErrorName) {
        self = HandoffFailure.Code(name).map(Self.init) ?? Self.foreign(name)
    }

    private init(_ code: HandoffFailure.Code) {
        self =
            switch code {
            case .unknownObject, .offerWithdrawn: .notFound
            case .accessDenied, .limitsExceeded, .disabled, .notPaired, .pairingFailed, .cancelled:
                .refused
            case .applicationTimedOut, .connectionUnavailable: .timedOut
            case .invalidArguments, .notSupported, .notRegistered, .typeNotDeclared, .userInfoTooLarge,
                .invalidURL, .noApplication, .applicationFailed, .streamsNotSupported:
                .failed
            }
    }

    private static func foreign(_ name: ErrorName) -> FailureKind {
        switch name {
        case .noReply, .timeout: .timedOut
        case .disconnected, .serviceUnknown, .nameHasNoOwner: .notRunning
        default: .failed
        }
    }

    /// The name of a failure of this kind that has no other.
    var name: String {
        switch self {
        case .failed: "Failed"
        case .usage: "Usage"
        case .notFound: "NotFound"
        case .refused: "Refused"
        case .timedOut: "TimedOut"
        case .notRunning: "NotRunning"
        }
    }
}
