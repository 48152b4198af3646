// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore

/// The one table between our failures and their names on D-Bus.
extension HandoffFailure.Code {
    /// The D-Bus name of the error.
    package var errorName: ErrorName {
        switch self {
        case .invalidArguments: .invalidArgs
        case .accessDenied: .accessDenied
        case .unknownObject: .unknownObject
        case .limitsExceeded: .limitsExceeded
        case .notSupported: .notSupported
        case .notRegistered: "org.example.Handoff.Error.NotRegistered"
        case .typeNotDeclared: "org.example.Handoff.Error.TypeNotDeclared"
        case .userInfoTooLarge: "org.example.Handoff.Error.UserInfoTooLarge"
        case .invalidURL: "org.example.Handoff.Error.InvalidURL"
        case .disabled: "org.example.Handoff.Error.Disabled"
        case .noApplication: "org.example.Handoff.Error.NoApplication"
        case .applicationTimedOut: "org.example.Handoff.Error.ApplicationTimedOut"
        case .applicationFailed: "org.example.Handoff.Error.ApplicationFailed"
        case .connectionUnavailable: "org.example.Handoff.Error.ConnectionUnavailable"
        case .cancelled: "org.example.Handoff.Error.Cancelled"
        case .offerWithdrawn: "org.example.Handoff.Error.OfferWithdrawn"
        case .streamsNotSupported: "org.example.Handoff.Error.StreamsNotSupported"
        case .notPaired: "org.example.Handoff.Error.NotPaired"
        case .pairingFailed: "org.example.Handoff.Error.PairingFailed"
        }
    }

    /// The code of a D-Bus error name, nil if Handoff has no error of that name.
    package init?(_ name: ErrorName) {
        guard let code = Self.allCases.first(where: { $0.errorName == name }) else { return nil }
        self = code
    }
}

extension HandoffFailure: DBusErrorConvertible {
    /// The failure as D-Bus carries it.
    package var dbusError: DBusError { DBusError(code.errorName, message) }

    /// An error that a peer sent: a name that Handoff does not have becomes `applicationFailed`, and the message
    /// is made fit to be shown and cut.
    package init(fromPeer error: DBusError) {
        self.init(Code(error.name) ?? .applicationFailed, foreignMessage: error.message)
    }

    /// The error of a call that the other daemon passes on to a peer. If nobody answered, or the daemon is
    /// gone, it is `connectionUnavailable`.
    package init(routed error: any Error) {
        if let failure = error as? HandoffFailure {
            self = failure
            return
        }
        let error = DBusError.converting(error)
        let unreachable: Set<ErrorName> = [
            .noReply, .timeout, .disconnected, .serviceUnknown, .nameHasNoOwner,
        ]
        guard unreachable.contains(error.name) else {
            self.init(fromPeer: error)
            return
        }
        self.init(
            .connectionUnavailable, foreignMessage: "The other device cannot be reached: \(error.message)")
    }
}
