// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// What particular things say that have failed, by the names of their errors.
extension FailureText {
    /// What was sent to a device has not been taken there.
    package static func sending(_ errorName: String, _ message: String) -> FailureText {
        switch code(errorName) {
        case .offerWithdrawn:
            FailureText(
                summary: tr("There is nothing to be sent. Turn to what you want to send, then try again."))
        case .notSupported:
            FailureText(
                summary: tr("The Handoff of the other device is too old for that. Update it there."))
        case .applicationFailed, nil:
            FailureText(summary: tr("The other device did not take it."), message)
        case let code: FailureText(code, message)
        }
    }

    /// A call of `Send` was refused here.
    package static func sending(_ error: DBusError) -> FailureText {
        switch code(error.name.text) {
        case nil: FailureText(error)
        case .notSupported:
            FailureText(
                summary: tr(
                    "The other device is away, and this can be sent only while both are connected. Try again then."
                ),
                error.message)
        case .limitsExceeded:
            FailureText(
                summary: tr("Too much waits already for devices that are away. Cancel something first."),
                error.message)
        default: sending(error.name.text, error.message)
        }
    }

    /// A telephone was not sent what is current here.
    package static func sendingToPhone(_ error: DBusError) -> FailureText {
        switch code(error.name.text) {
        case .notSupported:
            FailureText(
                summary: tr("Only pages and documents that are saved can be sent to a telephone."),
                error.message)
        case .unknownObject:
            FailureText(summary: tr("The telephone is not there any more. Look at it, and try again."))
        case .applicationFailed:
            FailureText(summary: tr("The program that reaches the telephone did not take it."), error.message)
        default: sending(error)
        }
    }

    /// What is in the clipboard of a device was not pasted here.
    package static func pasting(_ error: DBusError) -> FailureText {
        switch code(error.name.text) {
        case .notSupported:
            FailureText(
                summary: tr(
                    "The clipboard of one of the devices cannot be reached, or the Handoff of the other one is too old."
                ),
                error.message)
        case .offerWithdrawn:
            FailureText(
                summary: tr(
                    "There is nothing in its clipboard that may go to other devices. Copy it once more there."
                ))
        case .disabled:
            FailureText(
                summary: tr(
                    "Handoff, or its clipboard, is switched off here or on the other device. Switch it on."))
        case .accessDenied:
            FailureText(
                summary: tr(
                    "One of the devices is locked, or this one is muted there. Unlock or unmute it, then try again."
                ))
        case .applicationFailed:
            FailureText(
                summary: tr("What has arrived is not what it claims to be. Copy it once more there."),
                error.message)
        default: FailureText(error)
        }
    }

    /// A device did not list what is open there.
    package static func listing(_ error: DBusError) -> FailureText {
        switch code(error.name.text) {
        case .notSupported:
            FailureText(
                summary: tr("The Handoff of the other device is too old for that. Update it there."))
        case .applicationFailed:
            FailureText(summary: tr("The other device did not answer as it should."), error.message)
        default: FailureText(error)
        }
    }

    /// What waits for a device was not taken there.
    package static func waiting(_ message: String) -> FailureText {
        FailureText(
            summary: tr("The other device did not take it. It is offered there again later."), message)
    }

    /// Two devices have not been paired.
    package static func pairing(_ errorName: String, _ message: String) -> FailureText {
        switch (code(errorName), errorName) {
        case (.cancelled, _):
            FailureText(
                summary: tr(
                    "Pairing was ended on one of the devices: the digits differed, somebody has cancelled it, or nobody agreed in time."
                ))
        case (.connectionUnavailable, _), (.disabled, _): FailureText(code(errorName), message)
        case (_, ErrorName.timeout.text):
            FailureText(summary: tr("Nobody has agreed in time. Pair them again."))
        case (_, ErrorName.failed.text):
            FailureText(
                summary: tr("The pairing cannot be stored on this device. See whether its disk is full."),
                message)
        default: FailureText(.pairingFailed, message)
        }
    }

    /// A paired device is not connected.
    package static func connection(_ errorName: String, _ message: String) -> FailureText {
        if code(errorName) == .notPaired {
            return FailureText(
                summary: tr(
                    "It answers, but does not know this device as its peer. If that lasts, unpair both and pair them again."
                ))
        }
        return FailureText(summary: tr("It may be off, asleep or in another network."), message)
    }

    /// A device was not reached at an address that the user has typed.
    package static func connecting(_ error: DBusError) -> FailureText {
        if code(error.name.text) == .connectionUnavailable,
            error.message.contains(HandoffFailure.mayBeFirewall)
        {
            return FailureText(
                summary: tr(
                    "Nothing answers there. See whether the device is on and in the same network. If it is, its firewall may be in the way: it has to let in TCP ports 45700 to 45799 and UDP port 5353."
                ))
        }
        guard error.name == .invalidArgs else { return request(error) }
        return FailureText(
            summary: tr(
                "This is not an address. Give HOST:PORT, as the other device shows it, for example 192.0.2.7:24242."
            ),
            error.message)
    }

    /// Devices are not found by themselves.
    package static func discovery(_ errorName: String, _ message: String) -> FailureText {
        switch errorName {
        case ErrorName.disconnected.text:
            FailureText(
                summary: tr("There is no system bus, which is needed to reach Avahi."), message)
        case ErrorName.serviceUnknown.text: FailureText(summary: tr("Avahi is not running."), message)
        default: FailureText(summary: tr("Avahi does not answer as it should."), message)
        }
    }

    /// A daemon does not answer as it should.
    package static func silence(_ error: DBusError) -> FailureText {
        switch error.name {
        case .noReply, .timeout: FailureText(summary: tr("It has not answered in time."), error.message)
        case .accessDenied:
            FailureText(summary: tr("It does not let this program ask."), error.message)
        default: FailureText(summary: tr("It has answered with an error."), error.message)
        }
    }

    /// A call for which the user has chosen, or typed, what was given.
    package static func request(_ error: DBusError) -> FailureText {
        switch error.name {
        case .invalidArgs:
            FailureText(summary: tr("What was given cannot be used. Give something else."), error.message)
        case .failed: FailureText(summary: tr("It did not work. Try again."), error.message)
        default: FailureText(error)
        }
    }

    private static func code(_ errorName: String) -> HandoffFailure.Code? {
        (try? ErrorName(errorName)).flatMap { HandoffFailure.Code($0) }
    }
}

extension KnownDevice {
    /// Why it did not take what was sent last; nil if it did.
    package var sendFailure: FailureText? {
        sendError.isEmpty ? nil : .sending(sendErrorName, sendError)
    }

    /// Why it was not paired; nil if nothing is known of that.
    package var pairingFailure: FailureText? {
        pairingError.isEmpty ? nil : .pairing(pairingErrorName, pairingError)
    }

    /// Why it is not connected; nil if nothing is known of that.
    package var connectionFailure: FailureText? {
        connectionError.isEmpty ? nil : .connection(connectionErrorName, connectionError)
    }
}
