// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus

/// Messages as bytes, for channels that are not a bus. What comes in may be anything; descriptors never travel.
extension Message {
    /// The length that D-Bus allows a message to have, in bytes.
    public static let maximumLength = 1 << 27

    /// What the first bytes of a stream say about the message that begins there.
    public enum Framing: Equatable, Sendable {
        /// There are too few bytes to tell.
        case needMore
        /// The message takes this many bytes.
        case length(Int)
        /// No message begins like this, or the message is longer than allowed.
        case invalid
    }

    /// The fixed part of a header with the length of its fields: enough to know a message's length.
    private static let shortestPrefix = 16

    /// How many bytes the message takes that begins with `prefix`.
    ///
    /// Ask before more than the first 16 bytes are kept: whatever is longer than `limit` is invalid at once.
    public static func neededBytes(
        _ prefix: some Collection<UInt8>, limit: Int = Message.maximumLength
    ) -> Framing {
        // More would be of no use, and libdbus counts in 32 bits.
        let head = Array(prefix.prefix(shortestPrefix))
        guard head.count == shortestPrefix else { return .needMore }
        let length = head.withUnsafeBytes {
            dbus_message_demarshal_bytes_needed($0.bindMemory(to: CChar.self).baseAddress, Int32($0.count))
        }
        return length >= shortestPrefix && Int(length) <= min(limit, maximumLength)
            ? .length(Int(length)) : .invalid
    }

    /// This message as bytes.
    /// - Throws: `InvalidArgs` if it has no serial number or a file descriptor travels with it;
    ///   `LimitsExceeded` if it takes more than `limit` bytes.
    public func marshal(limit: Int = Message.maximumLength) throws(DBusError) -> [UInt8] {
        guard serial != 0 else {
            throw .invalidArgs("A message without a serial number cannot be marshalled.")
        }
        // A writer never appends the type of a descriptor without a descriptor.
        guard !containsFileDescriptors else { throw Self.descriptorRefused }
        var (start, length): (UnsafeMutablePointer<CChar>?, Int32) = (nil, 0)
        guard dbus_message_marshal(raw, &start, &length) != 0, let start else { throw .noMemory() }
        defer { dbus_free(start) }
        guard Int(length) <= min(limit, Self.maximumLength) else {
            throw .limitsExceeded("The message takes \(length) bytes, more than the \(limit) allowed.")
        }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(length)))
    }

    /// How many bytes the message takes, which is found out by marshalling it; if that fails, the most that
    /// it can take.
    public var marshalledSize: Int {
        var (start, length): (UnsafeMutablePointer<CChar>?, Int32) = (nil, 0)
        guard dbus_message_marshal(raw, &start, &length) != 0, let start else { return Self.maximumLength }
        dbus_free(start)
        return Int(length)
    }

    /// The message that `bytes` hold, exactly.
    ///
    /// Its sender, destination, serial and flags are whatever the other side wrote.
    /// - Throws: `InvalidArgs` if they hold anything else than one valid message of a known type without file
    ///   descriptors; `LimitsExceeded` if there are more than `limit`.
    public static func demarshal(
        _ bytes: [UInt8], limit: Int = Message.maximumLength
    ) throws(DBusError) -> Message {
        guard bytes.count <= min(limit, maximumLength) else {
            throw .limitsExceeded("The message takes \(bytes.count) bytes, more than the \(limit) allowed.")
        }
        // libdbus ignores what follows a message, and reports one that is cut off as a lack of memory.
        guard neededBytes(bytes, limit: limit) == .length(bytes.count) else {
            throw .invalidArgs("\(bytes.count) bytes are not one message.")
        }
        var error = CDBus.DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        let raw = bytes.withUnsafeBytes {
            dbus_message_demarshal($0.bindMemory(to: CChar.self).baseAddress, Int32($0.count), &error)
        }
        guard let raw else {
            throw .invalidArgs(error.message.map { String(cString: $0) } ?? "The bytes are not a message.")
        }
        let message = Message(owning: raw)
        guard message.kind != nil else { throw .invalidArgs("The message has an unknown type.") }
        try message.refuseDescriptors()
        return message
    }

    /// Throws if a descriptor travels with this message or its types name one, even within variants: the
    /// header field that counts descriptors is only what the sender claims.
    private func refuseDescriptors() throws(DBusError) {
        guard !containsFileDescriptors else { throw Self.descriptorRefused }
        var reader = MessageReader(self)
        try reader.refuseDescriptors()
    }

    fileprivate static let descriptorRefused = DBusError.invalidArgs(
        "A file descriptor (type h) cannot be sent to another device.")
}

extension MessageReader {
    /// Looks through all that follows here.
    fileprivate mutating func refuseDescriptors() throws(DBusError) {
        while !isAtEnd {
            switch nextType {
            case TypeCode.fileDescriptor: throw Message.descriptorRefused
            case TypeCode.array:
                let signature = nextSignature
                guard !signature.utf8.contains(UInt8(ascii: "h")) else { throw Message.descriptorRefused }
                // If the signature of an array does not name a descriptor, only a variant in it can hide one.
                if signature.utf8.contains(UInt8(ascii: "v")) { try descend() } else { skip() }
            case TypeCode.variant, TypeCode.structure, TypeCode.dictionaryEntry: try descend()
            default: skip()
            }
        }
    }

    private mutating func descend() throws(DBusError) {
        try container(nextType, "a container") { (reader) throws(DBusError) in try reader.refuseDescriptors()
        }
    }
}
