// SPDX-License-Identifier: LGPL-2.1-or-later

/// An error as D-Bus carries it: a name for programs, a message for people.
package struct DBusError: Error, Equatable, CustomStringConvertible, Sendable {
    /// The D-Bus error name.
    package let name: ErrorName
    /// What was wrong, with which value, and what to do.
    package let message: String

    /// An error of any name.
    package init(_ name: ErrorName, _ message: String) {
        self.name = name
        self.message = message
    }

    /// The message, then the name in brackets.
    package var description: String { "\(message) (\(name))" }

    /// This error with the place where it happened in front: `place: message`.
    package func at(_ place: String) -> DBusError { DBusError(name, "\(place): \(message)") }
}

/// An error that knows how it is told over D-Bus. An error that a method handler throws and that is neither
/// of this kind nor a ``DBusError`` reaches the caller as `org.freedesktop.DBus.Error.Failed`.
package protocol DBusErrorConvertible: Error {
    /// The error as D-Bus carries it.
    var dbusError: DBusError { get }
}

extension DBusError: DBusErrorConvertible {
    /// The error itself.
    package var dbusError: DBusError { self }
}

extension DBusError {
    /// Any error as D-Bus carries it.
    package static func converting(_ error: any Error) -> DBusError {
        if let error = error as? any DBusErrorConvertible { return error.dbusError }
        if error is CancellationError { return DBusError(.failed, "The operation was cancelled.") }
        return DBusError(.failed, "\(error)")
    }

    /// An argument is wrong.
    package static func invalidArgs(_ message: String) -> DBusError { DBusError(.invalidArgs, message) }
    /// The caller may not do this.
    package static func accessDenied(_ message: String) -> DBusError { DBusError(.accessDenied, message) }
    /// Something is too large, or there is too much of it.
    package static func limitsExceeded(_ message: String) -> DBusError { DBusError(.limitsExceeded, message) }
    /// What is asked for is not possible here.
    package static func notSupported(_ message: String) -> DBusError { DBusError(.notSupported, message) }
    /// There is no such object, or none that the caller may know of.
    package static func unknownObject(_ message: String) -> DBusError { DBusError(.unknownObject, message) }
    /// There is nothing at `path`, which may be long, or nothing that the caller may know of; and `why`, if that is known.
    package static func nothing(at path: ObjectPath, _ why: String? = nil) -> DBusError {
        .unknownObject("There is no object \(path.text.prefix(256)).\(why.map { " \($0)" } ?? "")")
    }
    /// The object has no such method.
    package static func unknownMethod(_ message: String) -> DBusError { DBusError(.unknownMethod, message) }
    static func noMemory() -> DBusError { DBusError(.noMemory, "Not enough memory for the message.") }
}

extension ErrorName {
    /// The name for every error that has no better one.
    package static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
    /// An argument is wrong.
    package static let invalidArgs: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    /// The caller may not do this.
    package static let accessDenied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"
    /// The object has no such method.
    package static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    /// There is no such object.
    package static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
    /// The object has no such interface.
    package static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
    /// The interface has no such property.
    package static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
    /// The property cannot be written.
    package static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
    /// Something is too large, or there is too much of it.
    package static let limitsExceeded: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// What is asked for is not possible here.
    package static let notSupported: ErrorName = "org.freedesktop.DBus.Error.NotSupported"
    /// There is not enough memory.
    package static let noMemory: ErrorName = "org.freedesktop.DBus.Error.NoMemory"
    /// A call was not answered in time.
    package static let noReply: ErrorName = "org.freedesktop.DBus.Error.NoReply"
    /// Something took too long.
    package static let timeout: ErrorName = "org.freedesktop.DBus.Error.Timeout"
    /// The connection has ended, or there was none.
    package static let disconnected: ErrorName = "org.freedesktop.DBus.Error.Disconnected"
    /// Nobody owns the name that was called, and nobody can be started for it.
    package static let serviceUnknown: ErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// Nobody owns the name that was asked about.
    package static let nameHasNoOwner: ErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// A reply does not have the signature that was agreed.
    package static let inconsistentMessage: ErrorName = "org.freedesktop.DBus.Error.InconsistentMessage"
}
