// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffKit
import Platform

extension HandoffError {
    /// What has come is of another version of the address book. This is told here, and to the program that has handed it over.
    static var notUnderstood: HandoffError {
        HandoffError(
            .applicationFailed,
            tr("This version of Contacts doesn’t understand what has arrived. Use the same version on both."))
    }

    /// Why something has failed, as a person understands it.
    static func reason(of error: any Error) -> String { (error as? HandoffError)?.reason ?? "\(error)" }

    /// Why something has not come, as a person understands it. The ``message``, in the words of whoever has made it, stands
    /// behind that where it says more. That of what is gone names it as programs know it.
    var reason: String {
        switch code {
        case .offerWithdrawn, .unknownObject: tr("It is no longer there.")
        case .cancelled: tr("It was cancelled.")
        case .disabled: tr("Handoff is switched off, here or on the other device. Switch it on.")
        case .notPaired:
            tr("The other device is not paired with this one any more. Pair them again.")
        case .applicationTimedOut: tr("The application did not answer in time. Try again.")
        case .connectionUnavailable:
            quoted(
                behind: tr(
                    "The other device cannot be reached. See whether it is switched on and on the same network."
                ))
        case .limitsExceeded: quoted(behind: tr("It is more than is allowed, or than there is room for."))
        case .applicationFailed where self == .notUnderstood: message
        case .applicationFailed: quoted(behind: tr("The application could not do it."))
        default: quoted(behind: tr("It did not work. Try again."))
        }
    }

    private func quoted(behind sentence: String) -> String {
        sentence + " " + tr("“{text}”", ["text": message])
    }
}
