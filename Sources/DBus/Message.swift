// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus

/// A D-Bus message.
///
/// Header fields can only be set from checked names, so no message that is made through this type can cause
/// libdbus to end the process.
///
/// Not Sendable: filling a message changes it, and so does reading it. It stays where it was made, or is
/// handed over as a whole.
public final class Message {
    let raw: OpaquePointer
    /// How many bytes writers have appended, rather overestimated.
    var written = 0
    /// How much memory readers may still build from it.
    var readingBudget = MessageReader.budget
    /// The type codes in the signature of what writers have appended.
    var typeCodes = 0

    /// What a message is.
    public enum Kind: Sendable { case call, reply, error, signal }

    /// Takes over one reference.
    init(owning raw: OpaquePointer) { self.raw = raw }

    deinit { dbus_message_unref(raw) }

    private static func make(_ raw: OpaquePointer?) throws(DBusError) -> Message {
        guard let raw else { throw .noMemory() }
        return Message(owning: raw)
    }

    /// Throws for the path and the interface that D-Bus reserves for messages that never leave a process. A
    /// bus disconnects whoever sends one, and the paths that are called come from other programs.
    private static func refuseReserved(_ path: ObjectPath, _ interface: InterfaceName) throws(DBusError) {
        guard !path.isReserved, !interface.isReserved else {
            throw .invalidArgs("\(path), \(interface): D-Bus reserves this name.")
        }
    }

    /// A method call. A nil `destination` is for a channel that is not a bus.
    /// - Throws: `InvalidArgs` for the reserved path and interface, `org.freedesktop.DBus.Local`.
    public static func call(
        to destination: BusName?, _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName
    ) throws(DBusError) -> Message {
        try refuseReserved(path, interface)
        return try make(
            withOptional(destination?.text) {
                dbus_message_new_method_call($0, path.text, interface.text, member.text)
            })
    }

    /// A signal, for everyone unless ``setDestination(_:)`` is called.
    /// - Throws: `InvalidArgs` for the reserved path and interface, `org.freedesktop.DBus.Local`.
    public static func signal(
        from path: ObjectPath, _ interface: InterfaceName, _ member: MemberName
    ) throws(DBusError) -> Message {
        try refuseReserved(path, interface)
        return try make(dbus_message_new_signal(path.text, interface.text, member.text))
    }

    /// The reply to `call`, still without arguments.
    public static func reply(to call: Message) throws(DBusError) -> Message {
        guard call.serial != 0 else {
            throw .invalidArgs("A message without a serial number cannot be answered.")
        }
        return try make(dbus_message_new_method_return(call.raw))
    }

    /// The error reply to `call`.
    public static func error(_ error: DBusError, to call: Message) throws(DBusError) -> Message {
        guard call.serial != 0 else {
            throw .invalidArgs("A message without a serial number cannot be answered.")
        }
        let text = error.message.holdsNUL ? error.message.filter { $0 != "\0" } : error.message
        return try make(dbus_message_new_error(call.raw, error.name.text, text))
    }

    // MARK: Header

    /// What it is, or nil for a type that this version of D-Bus does not know.
    public var kind: Kind? {
        switch dbus_message_get_type(raw) {
        case DBUS_MESSAGE_TYPE_METHOD_CALL: .call
        case DBUS_MESSAGE_TYPE_METHOD_RETURN: .reply
        case DBUS_MESSAGE_TYPE_ERROR: .error
        case DBUS_MESSAGE_TYPE_SIGNAL: .signal
        default: nil
        }
    }

    /// The number by which replies name it; 0 if it has none yet.
    public var serial: UInt32 { dbus_message_get_serial(raw) }
    /// The serial of the call that this answers, 0 for none.
    public var replySerial: UInt32 { dbus_message_get_reply_serial(raw) }
    /// The object that is called, or that emits the signal.
    public var path: ObjectPath? {
        dbus_message_get_path(raw).map { ObjectPath(validated: String(cString: $0)) }
    }
    /// The interface that the member belongs to, if it says so.
    public var interface: String? { dbus_message_get_interface(raw).map { String(cString: $0) } }
    /// The name of the method or signal.
    public var member: String? { dbus_message_get_member(raw).map { String(cString: $0) } }
    /// Who sent it. On a bus, the bus guarantees this; elsewhere it is only what the other side claims.
    public var sender: BusName? {
        dbus_message_get_sender(raw).map { BusName(validated: String(cString: $0)) }
    }
    /// The destination if it is a single connection, or the bus itself, and not a name that passes from one
    /// connection to another.
    var uniqueDestination: BusName? {
        guard let text = destination, text.utf8.first == UInt8(ascii: ":") || text == Bus.name.text else {
            return nil
        }
        return BusName(validated: text)
    }
    /// The one connection that a call or a signal is for, if it is not the bus.
    var observedDestination: BusName? {
        guard kind == .call || kind == .signal, let name = uniqueDestination, name != Bus.name else {
            return nil
        }
        return name
    }
    /// Whom it is for, if anybody in particular.
    public var destination: String? { dbus_message_get_destination(raw).map { String(cString: $0) } }
    /// The signature of the body.
    public var signature: String { dbus_message_get_signature(raw).map { String(cString: $0) } ?? "" }
    /// Whether the caller waits for a reply.
    public var wantsReply: Bool { dbus_message_get_no_reply(raw) == 0 }
    /// Whether file descriptors travel with it.
    public var containsFileDescriptors: Bool { dbus_message_contains_unix_fds(raw) != 0 }

    /// The error of an error reply. A missing or odd error message is replaced and never a reason to fail.
    public var error: DBusError? {
        guard kind == .error, let name = dbus_message_get_error_name(raw) else { return nil }
        var reader = MessageReader(self)
        let text = (try? reader.read(String.self)) ?? "No reason was given."
        return DBusError(ErrorName(validated: String(cString: name)), text)
    }

    func hasSignature(_ signature: String) -> Bool { dbus_message_has_signature(raw, signature) != 0 }

    /// Whether it is the call or signal `member` of `interface`.
    public func isMember(_ member: MemberName, of interface: InterfaceName) -> Bool {
        dbus_message_has_member(raw, member.text) != 0 && dbus_message_has_interface(raw, interface.text) != 0
    }

    // MARK: Changing the header before it is sent

    /// Addresses it to one connection.
    public func setDestination(_ destination: BusName) throws(DBusError) {
        guard dbus_message_set_destination(raw, destination.text) != 0 else { throw .noMemory() }
    }

    /// Says that nobody waits for an answer.
    public func setNoReply() { dbus_message_set_no_reply(raw, 1) }

    /// Gives the message a serial number before it is marshalled, for channels that are not a bus. Until then
    /// it has none; 0 means none.
    public func setSerial(_ serial: UInt32) {
        // libdbus insists on a serial that is not 0.
        if serial != 0 { dbus_message_set_serial(raw, serial) }
    }
}

/// Calls `body` with the C string of `text`, or with nil.
func withOptional<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    if let text { text.withCString { body($0) } } else { body(nil) }
}
