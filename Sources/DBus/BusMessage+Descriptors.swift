// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CDBus
internal import Glibc

/// Messages with descriptors, which libdbus takes and gives only one value after the other.
extension BusMessage {
    /// libdbus's code of a container's type: what stands for structures and dictionary entries is not what they begin
    /// with.
    private static func code(of type: UInt8) -> Int32 {
        switch type {
        case TypeCode.structure: Int32(UInt8(ascii: "r"))
        case TypeCode.dictionaryEntry: Int32(UInt8(ascii: "e"))
        default: Int32(type)
        }
    }

    private static func isContainer(_ type: UInt8) -> Bool {
        switch type {
        case TypeCode.array, TypeCode.structure, TypeCode.dictionaryEntry, TypeCode.variant: true
        default: false
        }
    }

    // MARK: Sending

    /// Appends all that `reader` still has to read, with `descriptors` for their numbers.
    static func copy(
        _ reader: inout MessageReader, to iterator: inout DBusMessageIter, _ descriptors: [Int32]
    ) throws(DBusError) {
        while !reader.isAtEnd {
            let type = reader.nextType
            guard isContainer(type) else {
                try copyBasic(type, &reader, to: &iterator, descriptors)
                continue
            }
            try reader.container(type, "a container") { (reader) throws(DBusError) in
                let isOfType = type == TypeCode.array || type == TypeCode.variant
                var inner = DBusMessageIter()
                let opened = withOptional(isOfType ? reader.nextSignature : nil) {
                    dbus_message_iter_open_container(&iterator, code(of: type), $0, &inner)
                }
                guard opened != 0 else { throw .noMemory() }
                do throws(DBusError) {
                    try copy(&reader, to: &inner, descriptors)
                } catch {
                    dbus_message_iter_abandon_container(&iterator, &inner)
                    throw error
                }
                guard dbus_message_iter_close_container(&iterator, &inner) != 0 else { throw .noMemory() }
            }
        }
    }

    private static func copyBasic(
        _ type: UInt8, _ reader: inout MessageReader, to iterator: inout DBusMessageIter,
        _ descriptors: [Int32]
    ) throws(DBusError) {
        func append<Raw: BitwiseCopyable>(_ value: Raw) throws(DBusError) {
            var value = value
            guard dbus_message_iter_append_basic(&iterator, Int32(type), &value) != 0 else {
                throw .noMemory()
            }
        }
        switch type {
        case TypeCode.string, TypeCode.objectPath, TypeCode.signature:
            let text = try reader.string(type, "a text")
            let done = text.withCString { pointer in
                var pointer: UnsafePointer<CChar>? = pointer
                return dbus_message_iter_append_basic(&iterator, Int32(type), &pointer)
            }
            guard done != 0 else { throw .noMemory() }
        case TypeCode.byte: try append(try reader.integer(type, "", UInt8.self))
        case TypeCode.int16, TypeCode.uint16: try append(try reader.integer(type, "", UInt16.self))
        case TypeCode.int64, TypeCode.uint64, TypeCode.double:
            try append(try reader.integer(type, "", UInt64.self))
        case TypeCode.fileDescriptor:
            let number = try reader.integer(type, "", UInt32.self)
            guard let index = Int(exactly: number), index < descriptors.count, descriptors[index] >= 0 else {
                throw .invalidArgs("A file descriptor is missing.")
            }
            try append(descriptors[index])
        default: try append(try reader.integer(type, "", UInt32.self))
        }
    }

    // MARK: Receiving

    /// How long a body may be in which descriptors are looked for, in bytes. libdbus has to be led to each value in
    /// turn, which takes long, before it is known who has sent it; what has descriptors in Handoff has little else.
    private static let maximumLength = 4096

    /// The descriptors that came with `raw`, by the numbers that the body of `message`, which is the same, gives them;
    /// −1 for one that it does not name, and for all in a body that is too long for what has descriptors.
    static func descriptors(_ raw: OpaquePointer, _ message: Message) throws(DBusError) -> [Int32] {
        var wanted = Wanted(
            numbers: Array(repeating: -1, count: Int(message.fields.descriptors)),
            missing: Int(message.fields.descriptors))
        var (reader, iterator) = (MessageReader(message), DBusMessageIter())
        guard message.bytes.count - (message.bodyStart ?? 0) <= maximumLength,
            dbus_message_iter_init(raw, &iterator) != 0
        else {
            return wanted.numbers
        }
        do throws(DBusError) {
            try collect(&reader, &iterator, into: &wanted)
        } catch {
            for number in wanted.numbers where number >= 0 { close(number) }
            throw error
        }
        return wanted.numbers
    }

    /// The descriptors that were found, and how many were not yet.
    private struct Wanted {
        var numbers: [Int32]
        var missing: Int
    }

    /// Goes through what both have still to read, in step, until all descriptors are found, each once.
    private static func collect(
        _ reader: inout MessageReader, _ iterator: inout DBusMessageIter, into wanted: inout Wanted
    ) throws(DBusError) {
        while !reader.isAtEnd, wanted.missing > 0 {
            let type = reader.nextType
            if type == TypeCode.fileDescriptor {
                let index = Int(try reader.integer(type, "h", UInt32.self))
                if index < wanted.numbers.count, wanted.numbers[index] < 0 {
                    dbus_message_iter_get_basic(&iterator, &wanted.numbers[index])
                    wanted.missing -= 1
                }
            } else if isContainer(type) {
                var inner = DBusMessageIter()
                dbus_message_iter_recurse(&iterator, &inner)
                try reader.container(type, "a container") { (reader) throws(DBusError) in
                    try collect(&reader, &inner, into: &wanted)
                }
            } else {
                try reader.skip()
            }
            _ = dbus_message_iter_next(&iterator)
        }
    }
}
