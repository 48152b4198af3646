// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus
package import DBus

/// What libdbus makes of the same messages and values, to compare with.
package enum Libdbus {
    /// Whether libdbus takes `bytes` for exactly one message of a known type without descriptors.
    package static func takes(_ bytes: [UInt8]) -> Bool {
        guard let message = message(bytes) else { return false }
        defer { dbus_message_unref(message) }
        guard (1...4).contains(dbus_message_get_type(message)) else { return false }
        return !namesDescriptors(message)
    }

    /// Whether libdbus refuses `message` for how a name begins in it, though D-Bus reserves only the whole name, and another bus
    /// passes it on.
    package static func refusesBeginning(of message: Message) -> Bool {
        message.path?.isReserved == true
            || message.interface?.hasPrefix("org.freedesktop.DBus.Local") == true
    }

    /// The message that `bytes` are, to be freed; nil if libdbus takes them for none.
    package static func message(_ bytes: [UInt8]) -> OpaquePointer? {
        bytes.withUnsafeBytes { bytes in
            let start = bytes.bindMemory(to: CChar.self).baseAddress
            // What follows a message is none of libdbus's business.
            guard bytes.count >= 16,
                dbus_message_demarshal_bytes_needed(start, Int32(bytes.count)) == Int32(bytes.count)
            else { return nil }
            return dbus_message_demarshal(start, Int32(bytes.count), nil)
        }
    }

    /// The kind of the message that `bytes` are, and the call that it answers, 0 for none; nil if libdbus takes them for
    /// none. `kind` is nil for a type that nobody knows.
    package static func header(_ bytes: [UInt8]) -> (kind: Message.Kind?, replySerial: UInt32)? {
        guard let message = message(bytes) else { return nil }
        defer { dbus_message_unref(message) }
        let kind: Message.Kind? =
            switch dbus_message_get_type(message) {
            case DBUS_MESSAGE_TYPE_METHOD_CALL: .call
            case DBUS_MESSAGE_TYPE_METHOD_RETURN: .reply
            case DBUS_MESSAGE_TYPE_ERROR: .error
            case DBUS_MESSAGE_TYPE_SIGNAL: .signal
            default: nil
            }
        return (kind, dbus_message_get_reply_serial(message))
    }

    /// Frees what ``message(_:)`` has made.
    package static func free(_ message: OpaquePointer) { dbus_message_unref(message) }

    /// `message` as libdbus writes it.
    package static func bytes(_ message: OpaquePointer) -> [UInt8] {
        var (start, length): (UnsafeMutablePointer<CChar>?, Int32) = (nil, 0)
        guard dbus_message_marshal(message, &start, &length) != 0, let start else { return [] }
        defer { dbus_free(start) }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(length)))
    }

    // MARK: Reading

    private static func namesDescriptors(_ message: OpaquePointer) -> Bool {
        var iterator = DBusMessageIter()
        guard dbus_message_iter_init(message, &iterator) != 0 else { return false }
        return namesDescriptors(&iterator)
    }

    private static func namesDescriptors(_ iterator: inout DBusMessageIter) -> Bool {
        repeat {
            guard dbus_message_iter_get_arg_type(&iterator) != 0 else { return false }
            if signature(&iterator).contains("h") { return true }
            if isContainer(dbus_message_iter_get_arg_type(&iterator)) {
                var inner = DBusMessageIter()
                dbus_message_iter_recurse(&iterator, &inner)
                if namesDescriptors(&inner) { return true }
            }
        } while dbus_message_iter_next(&iterator) != 0
        return false
    }

    private static func isContainer(_ type: Int32) -> Bool { "arev".utf8.contains { Int32($0) == type } }

    private static func signature(_ iterator: inout DBusMessageIter) -> String {
        guard let text = dbus_message_iter_get_signature(&iterator) else { return "" }
        defer { dbus_free(text) }
        return String(cString: text)
    }

    /// All arguments of `message`, as text that tells their types and values.
    package static func description(of message: OpaquePointer) -> String {
        var iterator = DBusMessageIter()
        guard dbus_message_iter_init(message, &iterator) != 0 else { return "" }
        return description(&iterator)
    }

    private static func description(_ iterator: inout DBusMessageIter) -> String {
        var parts: [String] = []
        while dbus_message_iter_get_arg_type(&iterator) != 0 {
            parts.append(describeOne(&iterator))
            _ = dbus_message_iter_next(&iterator)
        }
        return parts.joined(separator: ",")
    }

    private static func describeOne(_ iterator: inout DBusMessageIter) -> String {
        let type = dbus_message_iter_get_arg_type(&iterator)
        let signature = signature(&iterator)
        if isContainer(type) {
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return "\(signature)[\(description(&inner))]"
        }
        if "sog".utf8.contains(where: { Int32($0) == type }) {
            var text: UnsafePointer<CChar>?
            dbus_message_iter_get_basic(&iterator, &text)
            return "\(signature):\(text.map { String(cString: $0) } ?? "")"
        }
        var value: UInt64 = 0
        dbus_message_iter_get_basic(&iterator, &value)
        return "\(signature):\(value)"
    }

    // MARK: Writing

    /// A call of C of a.b at / with `values` as its arguments, as bytes.
    package static func call(of values: [Value]) -> [UInt8] {
        guard let message = dbus_message_new_method_call(nil, "/", "a.b", "C") else { return [] }
        defer { dbus_message_unref(message) }
        dbus_message_set_serial(message, 1)
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message, &iterator)
        for value in values { append(value, &iterator) }
        return bytes(message)
    }

    private static func append(_ value: Value, _ iterator: inout DBusMessageIter) {
        func number(_ type: Unicode.Scalar, _ value: some BitwiseCopyable) {
            var value = value
            dbus_message_iter_append_basic(&iterator, Int32(type.value), &value)
        }
        func text(_ type: Unicode.Scalar, _ text: String) {
            _ = text.withCString { pointer in
                var pointer: UnsafePointer<CChar>? = pointer
                return dbus_message_iter_append_basic(&iterator, Int32(type.value), &pointer)
            }
        }
        switch value {
        case .byte(let value): number("y", value)
        case .boolean(let value): number("b", UInt32(value ? 1 : 0))
        case .int16(let value): number("n", value)
        case .uint16(let value): number("q", value)
        case .int32(let value): number("i", value)
        case .uint32(let value): number("u", value)
        case .int64(let value): number("x", value)
        case .uint64(let value): number("t", value)
        case .double(let value): number("d", value)
        case .string(let value): text("s", value)
        case .objectPath(let path): text("o", path.text)
        case .signature(let signature): text("g", signature.text)
        case .bytes(let bytes): container("a", "y", bytes.map { .byte($0) }, &iterator)
        case .array(let array): container("a", array.elementSignature, array.elements, &iterator)
        case .structure(let structure): container("r", nil, structure.fields, &iterator)
        case .variant(let content): container("v", content.typeSignature, [content], &iterator)
        case .dictionary(let dictionary): append(dictionary, &iterator)
        }
    }

    private static func container(
        _ type: Unicode.Scalar, _ contents: String?, _ values: [Value], _ iterator: inout DBusMessageIter
    ) {
        var inner = DBusMessageIter()
        dbus_message_iter_open_container(&iterator, Int32(type.value), contents, &inner)
        for value in values { append(value, &inner) }
        dbus_message_iter_close_container(&iterator, &inner)
    }

    private static func append(_ dictionary: DictionaryValue, _ iterator: inout DBusMessageIter) {
        var inner = DBusMessageIter()
        let entry = "{\(dictionary.keySignature)\(dictionary.valueSignature)}"
        dbus_message_iter_open_container(&iterator, Int32(UInt8(ascii: "a")), entry, &inner)
        for element in dictionary.entries { container("e", nil, [element.key, element.value], &inner) }
        dbus_message_iter_close_container(&iterator, &inner)
    }
}

extension Libdbus {
    /// All arguments of `message`, which this project has read, in the form of ``description(of:)``.
    package static func ours(_ message: Message) throws(DBus.DBusError) -> String {
        var (reader, parts): (MessageReader, [String]) = (MessageReader(message), [])
        for _ in try Signature(message.signature).types { parts.append(describe(try reader.readAnyValue())) }
        return parts.joined(separator: ",")
    }

    private static func describe(_ value: Value) -> String {
        let contents: String
        switch value {
        case .byte(let value): contents = ":\(value)"
        case .boolean(let value): contents = value ? ":1" : ":0"
        case .int16(let value): contents = ":\(UInt16(bitPattern: value))"
        case .uint16(let value): contents = ":\(value)"
        case .int32(let value): contents = ":\(UInt32(bitPattern: value))"
        case .uint32(let value): contents = ":\(value)"
        case .int64(let value): contents = ":\(UInt64(bitPattern: value))"
        case .uint64(let value): contents = ":\(value)"
        case .double(let value): contents = ":\(value.bitPattern)"
        case .string(let text): contents = ":" + text
        case .objectPath(let path): contents = ":" + path.text
        case .signature(let signature): contents = ":" + signature.text
        case .bytes(let bytes): contents = list(bytes.map { "y:\($0)" })
        case .array(let array): contents = list(array.elements.map(describe))
        case .structure(let structure): contents = list(structure.fields.map(describe))
        case .variant(let content): contents = list([describe(content)])
        case .dictionary(let dictionary):
            let entry = "{\(dictionary.keySignature)\(dictionary.valueSignature)}"
            contents = list(
                dictionary.entries.map { entry + list([describe($0.key), describe($0.value)]) })
        }
        return value.typeSignature + contents
    }

    private static func list(_ parts: [String]) -> String { "[" + parts.joined(separator: ",") + "]" }
}
