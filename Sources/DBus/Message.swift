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
    /// The descriptors that travel with it, by the numbers in the body.
    var descriptors: [Int32] = []
    /// How many bytes it takes, if it has arrived; its body may be still to come.
    package let length: Int
    /// Whether the body has been found to be what its types claim.
    private var isBodyChecked: Bool
    /// Who sent it, if it did not come by the bus but past it (``AttachedSocket``); nil otherwise.
    var origin: BusName?
    /// The method that it calls, if it was made here.
    private(set) var method: MethodName?
    /// Whom it is for, if it was made here.
    private var recipient: BusName?
    /// How much memory readers may still build from it.
    var readingBudget = MessageReader.budget

    /// What a message is.
    package enum Kind: Sendable {
        case call, reply, error, signal

        /// The kind that stands for this byte; nil for a type that this version of D-Bus does not know.
        init?(type: UInt8) {
            switch type {
            case 1: self = .call
            case 2: self = .reply
            case 3: self = .error
            case 4: self = .signal
            default: return nil
            }
        }
    }

    /// The flag that says that nobody waits for an answer.
    private static let noReplyFlag: UInt8 = 1

    /// A message that has arrived, or its header alone, whose body has not been checked.
    init(received bytes: [UInt8], _ head: MessageHead) {
        self.bytes = bytes
        fields = head.fields
        bodyStart = head.start.bodyStart
        isBigEndian = head.start.isBigEndian
        serial = head.start.serial
        length = head.start.length
        isBodyChecked = false
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
        (bodyStart, length, isBodyChecked) = (nil, 0, true)
        isBigEndian = false
        body = MarshalledOutput(capacity: 128)
    }

    /// A body alone, to be read or filled, that never is a whole message.
    init(body: MarshalledOutput, types: String) {
        (bytes, fields, bodyStart, isBigEndian) = ([], MessageFields(), nil, false)
        (length, isBodyChecked) = (0, true)
        (self.body, self.types) = (body, Array(types.utf8))
    }

    deinit { for number in descriptors { close(number) } }

    /// Whether all of it has come.
    var isWhole: Bool { bytes.count == length }

    /// Adds what of `part` belongs to it.
    /// - Returns: how many bytes that are.
    func append(_ part: UnsafeRawBufferPointer) -> Int {
        let own = min(part.count, length - bytes.count)
        if bytes.capacity < length { bytes.reserveCapacity(length) }
        bytes.append(contentsOf: part[..<own])
        return own
    }

    /// Makes sure that the body is what its types claim, once.
    /// - Throws: `InvalidArgs` if it is not.
    package func checkBody() throws(DBusError) {
        guard !isBodyChecked else { return }
        var body = input
        body.takesDescriptors = !descriptors.isEmpty
        try body.checkValues(of: fields.signature)
        isBodyChecked = true
    }

    /// Gives its descriptors away: whoever takes them has to close them.
    func takeDescriptors() -> [Int32] {
        defer { descriptors = [] }
        return descriptors
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
    package static func call(
        to destination: BusName?, _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName
    ) throws(DBusError) -> Message {
        try refuseReserved(path, interface)
        let message = Message(making: 1)
        message.add(MessageFields.Code.path, path.text)
        if let destination { message.add(MessageFields.Code.destination, destination.text) }
        message.add(MessageFields.Code.interface, interface.text)
        message.add(MessageFields.Code.member, member.text)
        (message.method, message.recipient) = (MethodName(interface: interface, member: member), destination)
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
        try answer(2, to: call.serial, of: call.sender?.text)
    }

    /// The error reply to `call`.
    package static func error(_ error: DBusError, to call: Message) throws(DBusError) -> Message {
        try self.error(error, to: call.serial, of: call.sender?.text)
    }

    /// The error reply that takes the place of `answer`.
    static func error(_ error: DBusError, inPlaceOf answer: Message) throws(DBusError) -> Message {
        try self.error(error, to: answer.replySerial, of: answer.destination)
    }

    private static func error(
        _ error: DBusError, to serial: UInt32, of sender: String?
    ) throws(DBusError) -> Message {
        let message = try answer(3, to: serial, of: sender, error: error.name)
        let text = error.message.holdsNUL ? error.message.filter { $0 != "\0" } : error.message
        var writer = MessageWriter(message)
        try writer.write(text)
        return message
    }

    private static func answer(
        _ type: UInt8, to serial: UInt32, of sender: String?, error: ErrorName? = nil
    ) throws(DBusError) -> Message {
        guard serial != 0 else {
            throw .invalidArgs("A message without a serial number cannot be answered.")
        }
        let message = Message(making: type, flags: noReplyFlag)
        if let sender { message.add(MessageFields.Code.destination, sender) }
        if let error { message.add(MessageFields.Code.errorName, error.text) }
        message.fields.replySerial = serial
        message.addField(MessageFields.Code.replySerial, TypeCode.uint32)
        withUnsafeBytes(of: serial.littleEndian) { message.bytes.append(contentsOf: $0) }
        return message
    }

    // MARK: Header

    /// What it is, or nil for a type that this version of D-Bus does not know.
    package var kind: Kind? { bytes.count > 1 ? Kind(type: bytes[1]) : nil }

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
        origin ?? optional(fields.sender).map { BusName(validated: $0) }
    }
    /// Whether it is from `name`.
    func isFrom(_ name: BusName) -> Bool {
        origin.map { $0 == name } ?? bytes.holds(name.text, at: fields.sender)
    }
    /// Whether it says who sent it, or that is known without.
    var hasSender: Bool { origin != nil || !fields.sender.isEmpty }
    /// The destination if it is a single connection, or the bus itself, and not a name that passes from one
    /// connection to another.
    var uniqueDestination: BusName? {
        guard let first = fields.destination.first,
            bytes[first] == UInt8(ascii: ":") || bytes.holds(Bus.name.text, at: fields.destination)
        else { return nil }
        return recipient ?? BusName(validated: string(fields.destination))
    }
    /// The one connection that a call or a signal is for, if it is not the bus.
    var observedDestination: BusName? {
        guard kind == .call || kind == .signal, let name = uniqueDestination, name != Bus.name else {
            return nil
        }
        return name
    }
    /// Whether it has come past the bus, by an ``AttachedSocket``.
    package var isAttached: Bool { origin != nil }
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
    /// How many descriptors come with it, as it says.
    var announcedDescriptors: Int { Int(fields.descriptors) }
    /// Its descriptors have come and are lost: whoever reads one finds that.
    func loseDescriptors() { fields.descriptors = 0 }

    /// The error of an error reply. A missing or odd error message is replaced and never a reason to fail.
    package var error: DBusError? {
        guard kind == .error, let name = optional(fields.errorName) else { return nil }
        var reader = MessageReader(self)
        let text = (try? reader.read(String.self)) ?? "No reason was given."
        return DBusError(ErrorName(validated: name), text)
    }

    func hasSignature(_ signature: String) -> Bool {
        bodyStart == nil
            ? types.holds(signature, at: types.indices) : bytes.holds(signature, at: fields.signature)
    }

    /// Whether it is the call or signal `member` of `interface`, any if that is nil.
    package func isMember(_ member: MemberName?, of interface: InterfaceName) -> Bool {
        guard bytes.holds(interface.text, at: fields.interface) else { return false }
        return member.map { bytes.holds($0.text, at: fields.member) } ?? true
    }

    /// Whether it says that its member belongs to `interface`, or does not say what that belongs to.
    func mayBeOf(_ interface: InterfaceName) -> Bool {
        fields.interface.isEmpty || bytes.holds(interface.text, at: fields.interface)
    }
    /// Whether its member belongs to one of the standard interfaces (D-Bus Specification, "Standard Interfaces").
    var isStandard: Bool { ObjectTree.standard.contains { bytes.holds($0.text, at: fields.interface) } }

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
        recipient = destination
    }

    /// Says who sends it, as only a bus does; what it says already stays.
    func setSender(_ sender: BusName) {
        if bodyStart == nil, fields.sender.isEmpty { add(MessageFields.Code.sender, sender.text) }
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
        case MessageFields.Code.sender: fields.sender = range
        default: fields.destination = range
        }
    }
}

/// A method of an interface.
struct MethodName: Equatable {
    let interface: InterfaceName
    let member: MemberName

    var text: String { "\(interface).\(member)" }
}
