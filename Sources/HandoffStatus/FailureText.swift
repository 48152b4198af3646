// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// What a failure says to the user of a desktop. The sentences of the daemons are for whoever reads a log or a terminal.
package struct FailureText: Equatable, Sendable {
    /// What went wrong and what to do, in the user's language.
    package let summary: String
    /// What the daemon says of it, in its own words, where that is more than ``summary``; else empty. Fit to be shown in a line
    /// of its own.
    package let detail: String

    /// A failure of this kind, nil if it is none of ours, of which the daemon has said `message`.
    package init(_ code: HandoffFailure.Code?, _ message: String) {
        summary = Self.summary(of: code)
        detail = Self.saysAll(code) ? "" : PeerText.message(message)
    }

    /// An error of a call.
    package init(_ error: DBusError) {
        switch error.name {
        case .noReply, .timeout: self.init(summary: tr("No answer came. Try again."))
        case .disconnected, .serviceUnknown, .nameHasNoOwner:
            self.init(summary: tr("Handoff has ended meanwhile. Try again once it runs."))
        default: self.init(HandoffFailure.Code(error.name), error.message)
        }
    }

    /// Both in one line: what a daemon says stands in quotation marks, behind what is ours.
    package var line: String { summary + (detail.isEmpty ? "" : " " + ChosenText(message: detail).quoted) }

    /// The error with this name on D-Bus.
    package init(errorName: String, _ message: String) {
        self.init((try? ErrorName(errorName)).flatMap { HandoffFailure.Code($0) }, message)
    }

    /// A failure that `summary` explains, which is in the user's language; a daemon says `detail` of it.
    package init(summary: String, _ detail: String = "") {
        self.summary = summary
        self.detail = PeerText.message(detail)
    }

    /// What the application with this id has said in `message`, without the id and the title that the broker puts before it:
    /// whoever is told knows which application it is, by its name.
    static func words(of message: String, from applicationID: String, _ title: String) -> String {
        let frame = "\(applicationID) did not continue \"\(title)\": "
        return message.hasPrefix(frame) ? String(message.dropFirst(frame.count)) : message
    }

    /// Whether the daemon never has more to say of failures of this kind.
    private static func saysAll(_ code: HandoffFailure.Code?) -> Bool {
        switch code {
        case .disabled, .cancelled, .offerWithdrawn, .notPaired, .connectionUnavailable, .applicationTimedOut,
            .unknownObject, .streamsNotSupported, .notRegistered:
            true
        default: false
        }
    }

    private static func summary(of code: HandoffFailure.Code?) -> String {
        switch code {
        case .disabled: tr("Handoff is switched off, here or on the other device. Switch it on.")
        case .noApplication: tr("No application here can continue it. Install one that can.")
        case .applicationTimedOut: tr("The application did not answer in time. Try again.")
        case .applicationFailed: tr("The application could not do it.")
        case .connectionUnavailable:
            tr("The other device cannot be reached. See whether it is switched on and on the same network.")
        case .cancelled: tr("It was cancelled.")
        case .offerWithdrawn, .unknownObject:
            tr("It is no longer there. Look again at what there is, and choose from that.")
        case .notPaired: tr("The other device is not paired with this one any more. Pair them again.")
        case .pairingFailed: tr("The devices were not paired. Try again.")
        case .limitsExceeded: tr("It is more than is allowed, or than there is room for.")
        case .accessDenied: tr("That is not allowed.")
        case .notSupported, .streamsNotSupported: tr("That cannot be done here.")
        case .userInfoTooLarge, .typeNotDeclared, .notRegistered, .invalidURL, .invalidArguments:
            tr("The application has made a mistake. Report it to those who make it.")
        case nil: tr("Something went wrong. Try again.")
        }
    }
}
