// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// Why a command did not do what was asked, for the user to read.
struct CommandFailure: Error, Equatable {
    /// The resulting exit status: 1 if something failed, 2 if the command line was wrong.
    let status: Int32
    /// What was wrong, with which value, and what to do.
    let message: String

    private init(status: Int32, message: String) {
        self.status = status
        self.message = message
    }

    /// Something failed.
    init(_ message: String) { self.init(status: 1, message: message) }

    /// The command line is wrong.
    static func usage(_ message: String) -> CommandFailure { CommandFailure(status: 2, message: message) }

    /// Any error, worded for the user; text in it that other programs wrote is made fit to be shown.
    init(_ error: any Error) {
        if let failure = error as? CommandFailure {
            self = failure
            return
        }
        let error = DBusError.converting(error)
        let message = error.message.isEmpty ? error.name.text : error.message.shown.sentence
        switch error.name {
        case .noReply, .timeout:
            self.init("No answer came: \(message) Is that program stopped or overloaded?")
        case .disconnected: self.init("\(message) Check that the session's D-Bus daemon is running.")
        default: self.init(message)
        }
    }
}
