// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// The file with what waits for devices that were away: D-Bus messages one after the other, each with one item, so that
/// reading it checks no less than reading from a link does.
enum OutboxFile {
    /// How many bytes it may have.
    static let maximumSize = 4 << 20

    private static let interface: InterfaceName = "org.example.Handoff.Outbox"
    /// Another form of items gets another member.
    private static let member: MemberName = "Item1"

    /// The file that says `items`.
    /// - Throws: `LimitsExceeded` if it would be too large.
    static func render(_ items: [OutboxItem]) throws(DBusError) -> [UInt8] {
        var bytes: [UInt8] = []
        for item in items {
            let message = try Message.signal(from: "/", interface, member)
            message.setSerial(1)
            var writer = MessageWriter(message)
            for text in [item.id.description, item.device.description, item.origin.description] {
                try writer.write(text)
            }
            try writer.write(item.sentAt)
            try writer.write(item.arrivedAt)
            try writer.write(item.summary)
            try writer.write(item.payload)
            bytes += try message.marshal()
        }
        guard bytes.count <= maximumSize else {
            throw .limitsExceeded(
                "What waits for devices that are away would take \(bytes.count) bytes, more than the \(maximumSize)"
                    + " allowed. Cancel something first (handoff waiting).")
        }
        return bytes
    }

    /// What the file says.
    /// - Throws: what is wrong with it.
    static func parse(_ bytes: [UInt8]) throws -> [OutboxItem] {
        var framer = Framer(.init(header: 4096, message: maximumSize))
        bytes.withUnsafeBytes { framer.add($0) }
        var items: [OutboxItem] = []
        while let message = try framer.next() { items.append(try item(message)) }
        guard !framer.isWithinMessage else { throw DBusError.invalidArgs("The end is missing.") }
        return items
    }

    private static func item(_ message: Message) throws -> OutboxItem {
        guard message.isMember(member, of: interface) else {
            throw DBusError.invalidArgs(
                "It has a form that this program does not know: \(message.member ?? "none").")
        }
        try message.checkBody()
        var reader = MessageReader(message)
        let (id, device) = (
            try ActivityID(checking: try reader.read()), try DeviceID(checking: try reader.read())
        )
        let origin = try ActivityID(checking: try reader.read())
        let (sentAt, arrivedAt): (Int64, Int64) = (try reader.read(), try reader.read())
        let summary: [String: Value] = try reader.read()
        return OutboxItem(
            id: id, device: device, origin: origin, summary: summary, payload: try reader.read(),
            sentAt: sentAt, arrivedAt: arrivedAt)
    }
}
