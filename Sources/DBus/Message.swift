// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// A D-Bus message: its header and its body, as the bytes that they take.
///
/// Header fields can only be set from checked names, so that what is made through this type is a message that any other
/// side accepts.
///
/// Not Sendable: filling a message changes it, and so does reading it. It stays where it was made, or is
/// handed over as a whole.
///
/// Each access to what it holds is over at once, and calls nobody who could begin another one; so those that are many are
/// not checked for that while the program runs.
package final class Message {
    /// The whole message if it has arrived; otherwise its header, as far as that is known before it is sent.
    @exclusivity(unchecked) private(set) var bytes: [UInt8]
    /// What the header says.
    @exclusivity(unchecked) private(set) var fields: MessageFields
    /// Where the body begins in the bytes; nil if the message was made here.
    let bodyStart: Int?
    /// Whether the most significant byte of a number comes first.
    let isBigEndian: Bool
    /// What writers have appended.
    @exclusivity(unchecked) var body: MarshalledOutput
    /// The types of what writers have appended.
    @exclusivity(unchecked) var types: [UInt8] = []
    /// The descriptors that travel with it, by the numbers in the body; −1 for one that nothing in the body names.
    var descriptors: [Int32] = []
    /// Who sent it, if it did not come by the bus but by a socket of this connection's own; nil otherwise.
    var attachedSender: BusName?
    /// The way that it has come, or has to go.
    var way = Way.any
    /// Whether a number stands in the body where a descriptor is meant, as on such a socket.
    var numbersDescriptors = false
    /// Whether the reply to this call carries a descriptor.
    var awaitsDescriptor = false
    /// How much memory readers may still build from it.
    var readingBudget = MessageReader.budget

    /// How a message travels between two connections of a bus.
    enum Way: Equatable {
        /// By whichever way there is.
        case any
        /// By the bus, or by the only channel that there is.
        case channel
        /// By the socket of this number alone (``AttachedSocket``).
        case socket(UInt64)
    }

    /// What a message is.
    package enum Kind: Sendable { case call, reply, error, signal }

    /// The flag that says that nobody waits for an answer.
    private static let noReplyFlag: UInt8 = 1

    /// A message that has arrived, whose body has been checked.
    init(received bytes: [UInt8], _ fields: MessageFields, bodyStart: Int, isBigEndian: Bool, serial: UInt32)
    {
        self.bytes = bytes
        self.fields = fields
        self.bodyStart = bodyStart
        self.isBigEndian = isBigEndian
        self.serial = serial
        body = MarshalledOutput()
    }

    /// A message to be filled and sent. Its type is a byte, since there are types that this version of D-Bus does not
    /// know.
    init(making type: UInt8, flags: UInt8 = 0) {
        bytes = []
        bytes.reserveCapacity(256)
        // The lengths and the serial number are filled in when it is sent.
        bytes += [UInt8(ascii: "l"), type, flags, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        fields = MessageFields()
        bodyStart = nil
        isBigEndian = false
        body = MarshalledOutput(capacity: 128)
    }

    /// A body alone, to be read or filled, that never is a whole message.
    init(body: MarshalledOutput, types: String) {
        (bytes, fields, bodyStart, isBigEndian) = ([], MessageFields(), nil, false)
        (self.body, self.types) = (body, Array(types.utf8))
    }

    deinit { for number in descriptors where number >= 0 { close(number) } }

    /// Throws for the path and the interface that D-Bus reserves for messages that never leave a process. A
    /// bus disconnects whoever sends one, and the paths that are called come from other programs.
    private static func refuseReserved(_ path: ObjectPath, _ interface: InterfaceName) throws(DBusError) {
        guard !path.isReserved, !interface.isReserved else {
            throw .invalidArgs("\(path), \(interface): D-Bus reserves this name.")
        }
    }

    /// A method call. A nil `destination` is for a channel that is not a bus.
    /// - Throws: `InvalidArgs` for the reserved path and interface, `org.freedesktop.DBus.Local`.
    package static func call(
        to destination: BusName?, _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName
    ) throws(DBusError) -> Message {
        try refuseReserved(path, interface)
        let message = Message(making: 1)
        message.add(MessageFields.Code.path, path.text)
        if let destination { message.add(MessageFields.Code.destination, destination.text) }
        message.add(MessageFields.Code.interface, interface.text)
        message.add(MessageFields.Code.member, member.text)
        return message
    }

    /// A signal, for everyone unless ``setDestination(_:)`` is called.
    /// - Throws: `InvalidArgs` for the reserved path and interface, `org.freedesktop.DBus.Local`.
    package static func signal(
        from path: ObjectPath, _ interface: InterfaceName, _ member: MemberName
    ) throws(DBusError) -> Message {
        try refuseReserved(path, interface)
        let message = Message(making: 4, flags: noReplyFlag)
        message.add(MessageFields.Code.path, path.text)
        message.add(MessageFields.Code.interface, interface.text)
        message.add(MessageFields.Code.member, member.text)
        return message
    }

    /// The reply to `call`, still without arguments.
    package static func reply(to call: Message) throws(DBusError) -> Message {
        try answer(2, to: call)
    }

    /// The error reply to `call`.
    package static func error(_ error: DBusError, to call: Message) throws(DBusError) -> Message {
        let message = try answer(3, to: call, error: error.name)
        let text = error.message.holdsNUL ? error.message.filter { $0 != "\0" } : error.message
        var writer = MessageWriter(message)
        try writer.write(text)
        return message
    }

    private static func answer(
        _ type: UInt8, to call: Message, error: ErrorName? = nil
    ) throws(DBusError) -> Message {
        guard call.serial != 0 else {
            throw .invalidArgs("A message without a serial number cannot be answered.")
        }
        let message = Message(making: type, flags: noReplyFlag)
        // A call is answered the way that it has come: elsewhere its number means another one, or nothing.
        message.way = call.way == .any ? .channel : call.way
        if let sender = call.sender { message.add(MessageFields.Code.destination, sender.text) }
        if let error { message.add(MessageFields.Code.errorName, error.text) }
        message.fields.replySerial = call.serial
        message.addField(MessageFields.Code.replySerial, TypeCode.uint32)
        withUnsafeBytes(of: call.serial.littleEndian) { message.bytes.append(contentsOf: $0) }
        return message
    }

    // MARK: Header

    /// What it is, or nil for a type that this version of D-Bus does not know.
    package var kind: Kind? {
        switch bytes.count > 1 ? bytes[1] : 0 {
        case 1: .call
        case 2: .reply
        case 3: .error
        case 4: .signal
        default: nil
        }
    }

    /// The number by which replies name it; 0 if it has none yet.
    package private(set) var serial: UInt32 = 0
    /// The serial of the call that this answers, 0 for none.
    package var replySerial: UInt32 { fields.replySerial }
    /// The object that is called, or that emits the signal.
    package var path: ObjectPath? { optional(fields.path).map { ObjectPath(validated: $0) } }
    /// The interface that the member belongs to, if it says so.
    package var interface: String? { optional(fields.interface) }
    /// The name of the method or signal.
    package var member: String? { optional(fields.member) }
    /// Who sent it. On a bus, the bus guarantees this; elsewhere it is only what the other side claims.
    package var sender: BusName? {
        attachedSender ?? optional(fields.sender).map { BusName(validated: $0) }
    }
    /// The destination if it is a single connection, or the bus itself, and not a name that passes from one
    /// connection to another.
    var uniqueDestination: BusName? {
        guard let first = fields.destination.first,
            bytes[first] == UInt8(ascii: ":") || bytes.holds(Bus.name.text, at: fields.destination)
        else { return nil }
        return BusName(validated: string(fields.destination))
    }
    /// The one connection that a call or a signal is for, if it is not the bus.
    var observedDestination: BusName? {
        guard kind == .call || kind == .signal, let name = uniqueDestination, name != Bus.name else {
            return nil
        }
        return name
    }
    /// Whether it has come past the bus, by an ``AttachedSocket``.
    package var isAttached: Bool { attachedSender != nil }
    /// Whom it is for, if anybody in particular.
    package var destination: String? { optional(fields.destination) }
    /// The signature of the body.
    package var signature: String {
        bodyStart == nil ? String(decoding: types, as: UTF8.self) : string(fields.signature)
    }
    /// Whether the caller waits for a reply.
    package var wantsReply: Bool { bytes[2] & Self.noReplyFlag == 0 }
    /// Whether file descriptors travel with it.
    package var containsFileDescriptors: Bool { !descriptors.isEmpty }

    /// The error of an error reply. A missing or odd error message is replaced and never a reason to fail.
    package var error: DBusError? {
        guard kind == .error, let name = optional(fields.errorName) else { return nil }
        var reader = MessageReader(self)
        let text = (try? reader.read(String.self)) ?? "No reason was given."
        return DBusError(ErrorName(validated: name), text)
    }

    func hasSignature(_ signature: String) -> Bool {
        if numbersDescriptors { return hasNumberedSignature(signature) }
        return holdsSignature(signature)
    }

    func holdsSignature(_ signature: String) -> Bool {
        bodyStart == nil
            ? types.holds(signature, at: types.indices) : bytes.holds(signature, at: fields.signature)
    }

    /// Whether it is for the connection `name`.
    func isAddressed(to name: BusName) -> Bool { bytes.holds(name.text, at: fields.destination) }

    /// Whether it is the call or signal `member` of `interface`.
    package func isMember(_ member: MemberName, of interface: InterfaceName) -> Bool {
        bytes.holds(member.text, at: fields.member) && bytes.holds(interface.text, at: fields.interface)
    }

    private func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func optional(_ range: Range<Int>) -> String? { range.isEmpty ? nil : string(range) }

    /// The same message, to be addressed to somebody else; nil if it has arrived, or descriptors travel with it.
    func copy() -> Message? {
        guard bodyStart == nil, descriptors.isEmpty else { return nil }
        let copy = Message(body: body, types: "")
        (copy.bytes, copy.fields, copy.types) = (bytes, fields, types)
        return copy
    }

    // MARK: Changing the header before it is sent

    /// Addresses it, once, to one connection.
    /// - Throws: `Failed` if it is addressed already, or has arrived.
    package func setDestination(_ destination: BusName) throws(DBusError) {
        guard bodyStart == nil, fields.destination.isEmpty else {
            throw DBusError(.failed, "A message is addressed once, before it is sent.")
        }
        add(MessageFields.Code.destination, destination.text)
    }

    /// Says that nobody waits for an answer.
    package func setNoReply() { bytes[2] |= Self.noReplyFlag }

    /// Gives the message a serial number before it is marshalled. Until then it has none; 0 means none.
    package func setSerial(_ serial: UInt32) { if serial != 0 { self.serial = serial } }

    /// Appends the beginning of a field, up to its value.
    private func addField(_ code: UInt8, _ type: UInt8) {
        while bytes.count % 8 != 0 { bytes.append(0) }
        // The code, and a signature of one type.
        let beginning = UInt32(code) | 1 << 8 | UInt32(type) << 16
        withUnsafeBytes(of: beginning.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private func add(_ code: UInt8, _ text: String) {
        addField(code, code == MessageFields.Code.path ? TypeCode.objectPath : TypeCode.string)
        let count = text.utf8.count
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: count).littleEndian) { bytes.append(contentsOf: $0) }
        let range = bytes.count..<bytes.count + count
        bytes.append(contentsOf: text.utf8)
        bytes.append(0)
        switch code {
        case MessageFields.Code.path: fields.path = range
        case MessageFields.Code.interface: fields.interface = range
        case MessageFields.Code.member: fields.member = range
        case MessageFields.Code.errorName: fields.errorName = range
        default: fields.destination = range
        }
    }
}

/// Calls `body` with the C string of `text`, or with nil.
func withOptional<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    if let text { text.withCString { body($0) } } else { body(nil) }
}
