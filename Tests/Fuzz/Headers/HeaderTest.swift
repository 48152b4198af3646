// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import FuzzSupport
import LibdbusReference

/// Compares the raw header of a message with what libdbus makes of the same bytes.
enum HeaderTest {
    static func run(_ bytes: [UInt8]) {
        let reading = MessageHeader.read(bytes)
        check(reading, of: bytes)
        compare(reading, bytes)
        // The header says the same no matter how much of what follows has arrived.
        guard case .header(let header) = reading else { return }
        require(MessageHeader.read(bytes + [0, 0xFF]) == reading, "it depends on what follows")
        let count = bytes.count
        require(MessageHeader.read(bytes[...].prefix(count)) == reading, "it depends on where the bytes are")
        require(header.length >= 16 && header.length <= Message.maximumLength, "a length of \(header.length)")
    }

    /// Checks that an incomplete header becomes complete or invalid with the bytes that it asks for.
    private static func check(_ reading: MessageHeader.Reading, of bytes: [UInt8]) {
        guard case .needs(let needed) = reading else { return }
        require(
            needed > bytes.count && needed <= MessageHeader.maximumSize, "\(needed) of \(bytes.count) bytes")
        let filled = bytes + [UInt8](repeating: 0, count: needed - bytes.count)
        if case .needs(let more) = MessageHeader.read(filled) {
            let isFirst = bytes.count < 16
            require(isFirst && more > needed, "\(more) bytes after \(needed)")
        }
    }

    /// Checks that the header says the same as libdbus about everything that libdbus accepts as a message,
    /// unless such a message never travels on a link.
    private static func compare(_ reading: MessageHeader.Reading, _ bytes: [UInt8]) {
        guard let message = Libdbus.header(bytes) else { return }
        guard case .header(let header) = reading else { return }
        require(header.length == bytes.count, "\(header.length) of \(bytes.count) bytes")
        require(header.kind == message.kind, "it is a \(String(describing: message.kind))")
        require(header.replySerial == message.replySerial, "it answers \(message.replySerial)")
    }
}
