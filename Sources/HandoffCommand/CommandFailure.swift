// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// Why a command did not do what was asked, for the user to read, and for scripts.
struct CommandFailure: Error, Equatable {
    /// The resulting exit status: that of a ``FailureKind``, or 130 if the user has interrupted it.
    let status: Int32
    /// What programs know it by: the last part of a name of Handoff's errors, or the name of its kind.
    let name: String
    /// What was wrong, with which value, and what to do.
    let message: String

    private init(status: Int32, name: String, message: String) {
        self.status = status
        self.name = name
        self.message = message
    }

    /// Something failed. `name`: what programs know it by, if that is more than its kind.
    init(_ message: String, _ kind: FailureKind = .failed, name: String? = nil) {
        self.init(status: kind.rawValue, name: name ?? kind.name, message: message)
    }

    /// What has an error of this D-Bus name behind it, and these words.
    init(_ message: String, errorName: String) {
        guard let name = try? ErrorName(errorName) else {
            self.init(message)
            return
        }
        self.init(message, FailureKind(name), name: Self.word(name))
    }

    /// The command line is wrong.
    static func usage(_ message: String) -> CommandFailure { CommandFailure(message, .usage) }

    /// What the command line says fits several.
    static func ambiguous(_ message: String) -> CommandFailure {
        CommandFailure(message, .usage, name: "Ambiguous")
    }

    /// The same, after the user has interrupted it: the status is what a shell says of a program that this signal has ended.
    var interrupted: CommandFailure {
        CommandFailure(status: 128 + SIGINT, name: name, message: message)
    }

    /// Any error, worded for the user; text in it that other programs wrote is made fit to be shown.
    init(_ error: any Error) {
        if let failure = error as? CommandFailure {
            self = failure
            return
        }
        let error = DBusError.converting(error)
        let message = error.message.isEmpty ? error.name.text : error.message.shown.sentence
        let words =
            switch error.name {
            case .noReply, .timeout:
                tr("No answer came: {reason} Is that program stopped or overloaded?", ["reason": message])
            case .disconnected:
                tr("{reason} Check that the session's D-Bus daemon is running.", ["reason": message])
            default: message
            }
        self.init(words, FailureKind(error.name), name: Self.word(error.name))
    }

    /// What programs know an error of this name by. What Handoff defines, and what any service may say, is the last part of
    /// the name; anything else is its kind.
    private static func word(_ name: ErrorName) -> String? {
        guard HandoffFailure.Code(name) != nil else { return nil }
        return name.text.split(separator: ".").last.map(String.init)
    }
}

extension CommandFailure {
    /// The failure for programs.
    var json: JSON {
        ["name": .string(name), "exitStatus": .integer(status), "message": .string(message)]
    }
}
