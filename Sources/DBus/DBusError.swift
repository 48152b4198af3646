// SPDX-License-Identifier: LGPL-2.1-or-later

/// An error as D-Bus carries it: a name for programs, a message for people.
public struct DBusError: Error, Equatable, CustomStringConvertible, Sendable {
    /// The D-Bus error name.
    public let name: ErrorName
    /// What was wrong, with which value, and what to do.
    public let message: String

    /// An error of any name.
    public init(_ name: ErrorName, _ message: String) {
        self.name = name
        self.message = message
    }

    /// The message, then the name in brackets.
    public var description: String { "\(message) (\(name))" }

    /// This error with the place where it happened in front: `place: message`.
    public func at(_ place: String) -> DBusError { DBusError(name, "\(place): \(message)") }
}

/// An error that knows how it is told over D-Bus. An error that a method handler throws and that is neither
/// of this kind nor a ``DBusError`` reaches the caller as `org.freedesktop.DBus.Error.Failed`.
public protocol DBusErrorConvertible: Error {
    /// The error as D-Bus carries it.
    var dbusError: DBusError { get }
}

extension DBusError: DBusErrorConvertible {
    /// The error itself.
    public var dbusError: DBusError { self }
}

extension DBusError {
    /// Any error as D-Bus carries it.
    public static func converting(_ error: any Error) -> DBusError {
        if let error = error as? any DBusErrorConvertible { return error.dbusError }
        if error is CancellationError { return DBusError(.failed, "The operation was cancelled.") }
        return DBusError(.failed, "\(error)")
    }

    /// An argument is wrong.
    public static func invalidArgs(_ message: String) -> DBusError { DBusError(.invalidArgs, message) }
    /// The caller may not do this.
    public static func accessDenied(_ message: String) -> DBusError { DBusError(.accessDenied, message) }
    /// Something is too large, or there is too much of it.
    public static func limitsExceeded(_ message: String) -> DBusError { DBusError(.limitsExceeded, message) }
    /// What is asked for is not possible here.
    public static func notSupported(_ message: String) -> DBusError { DBusError(.notSupported, message) }
    /// There is no such object, or none that the caller may know of.
    public static func unknownObject(_ message: String) -> DBusError { DBusError(.unknownObject, message) }
    /// The object has no such method.
    public static func unknownMethod(_ message: String) -> DBusError { DBusError(.unknownMethod, message) }
    static func noMemory() -> DBusError { DBusError(.noMemory, "Not enough memory for the message.") }
}

extension ErrorName {
    /// The name for every error that has no better one.
    public static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
    /// An argument is wrong.
    public static let invalidArgs: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    /// The caller may not do this.
    public static let accessDenied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"
    /// The object has no such method.
    public static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    /// There is no such object.
    public static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
    /// The object has no such interface.
    public static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
    /// The interface has no such property.
    public static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
    /// The property cannot be written.
    public static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
    /// Something is too large, or there is too much of it.
    public static let limitsExceeded: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// What is asked for is not possible here.
    public static let notSupported: ErrorName = "org.freedesktop.DBus.Error.NotSupported"
    /// There is not enough memory.
    public static let noMemory: ErrorName = "org.freedesktop.DBus.Error.NoMemory"
    /// A call was not answered in time.
    public static let noReply: ErrorName = "org.freedesktop.DBus.Error.NoReply"
    /// Something took too long.
    public static let timeout: ErrorName = "org.freedesktop.DBus.Error.Timeout"
    /// The connection has ended, or there was none.
    public static let disconnected: ErrorName = "org.freedesktop.DBus.Error.Disconnected"
    /// Nobody owns the name that was called, and nobody can be started for it.
    public static let serviceUnknown: ErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// Nobody owns the name that was asked about.
    public static let nameHasNoOwner: ErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// A reply does not have the signature that was agreed.
    public static let inconsistentMessage: ErrorName = "org.freedesktop.DBus.Error.InconsistentMessage"
}
