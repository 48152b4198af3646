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

    public var description: String { "\(message) (\(name))" }

    /// The same error, saying first where it happened: `place: message`.
    public func at(_ place: String) -> DBusError { DBusError(name, "\(place): \(message)") }
}

/// An error that knows how it is told over D-Bus. What is thrown by a method handler and is neither this
/// nor a ``DBusError`` reaches the caller as `org.freedesktop.DBus.Error.Failed`.
public protocol DBusErrorConvertible: Error {
    /// The error as D-Bus carries it.
    var dbusError: DBusError { get }
}

extension DBusError: DBusErrorConvertible {
    public var dbusError: DBusError { self }
}

extension DBusError {
    /// What any error is on D-Bus.
    public static func converting(_ error: any Error) -> DBusError {
        if let error = error as? any DBusErrorConvertible { return error.dbusError }
        if error is CancellationError { return DBusError(.failed, "The operation was cancelled.") }
        return DBusError(.failed, "\(error)")
    }

    public static func invalidArgs(_ message: String) -> DBusError { DBusError(.invalidArgs, message) }
    public static func accessDenied(_ message: String) -> DBusError { DBusError(.accessDenied, message) }
    public static func limitsExceeded(_ message: String) -> DBusError { DBusError(.limitsExceeded, message) }
    public static func notSupported(_ message: String) -> DBusError { DBusError(.notSupported, message) }
    public static func unknownObject(_ message: String) -> DBusError { DBusError(.unknownObject, message) }
    public static func unknownMethod(_ message: String) -> DBusError { DBusError(.unknownMethod, message) }
    static func noMemory() -> DBusError { DBusError(.noMemory, "Not enough memory for the message.") }
}

extension ErrorName {
    public static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
    public static let invalidArgs: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    public static let accessDenied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"
    public static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    public static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
    public static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
    public static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
    public static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
    public static let limitsExceeded: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
    public static let notSupported: ErrorName = "org.freedesktop.DBus.Error.NotSupported"
    public static let noMemory: ErrorName = "org.freedesktop.DBus.Error.NoMemory"
    public static let noReply: ErrorName = "org.freedesktop.DBus.Error.NoReply"
    public static let timeout: ErrorName = "org.freedesktop.DBus.Error.Timeout"
    public static let disconnected: ErrorName = "org.freedesktop.DBus.Error.Disconnected"
    public static let serviceUnknown: ErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
    public static let nameHasNoOwner: ErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
    public static let inconsistentMessage: ErrorName = "org.freedesktop.DBus.Error.InconsistentMessage"
}
