// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffInterfaces

@testable import DBus
@testable import HandoffBridge

/// What a device should not send over a link, or need not understand.
struct BadMessage {
    let name: String
    var bytes: [UInt8]
    /// Whether whoever sends it is paired with the device that gets it.
    var isFromPeer = true
    /// Whether it comes before `Hello`.
    var comesFirst = false

    /// The serial number; 0 for none.
    private(set) var serial: UInt32 = 0

    init(name: String, bytes: [UInt8], isFromPeer: Bool = true, comesFirst: Bool = false) {
        (self.name, self.bytes, self.isFromPeer, self.comesFirst) = (name, bytes, isFromPeer, comesFirst)
    }

    /// All of them, each with a serial number of its own unless it is to have none.
    static func all() throws -> [BadMessage] {
        let made = try headers() + bodies() + members() + arguments() + hellos() + others()
        return zip(made, UInt32(1000)...).map { message, serial in
            var message = message
            guard message.bytes[8] != 0 else { return message }
            message.serial = serial
            for index in 0..<4 {
                message.bytes[8 + index] = UInt8(truncatingIfNeeded: serial >> (8 * UInt32(index)))
            }
            return message
        }
    }

    private static func headers() throws -> [BadMessage] {
        func raw(_ change: (inout RawMessage) -> Void) -> [UInt8] {
            var message = RawMessage()
            change(&message)
            return message.bytes
        }
        let path = RawMessage.path("/")
        let longest = RawMessage.text(4, String(repeating: "x", count: LinkRules.maximumHeader))
        return [
            BadMessage(
                name: "no message", bytes: Array(repeating: 0x2A, count: 8) + Array(repeating: 0, count: 8)),
            BadMessage(name: "another byte order", bytes: raw { $0.order = UInt8(ascii: "x") }),
            BadMessage(name: "another version of D-Bus", bytes: raw { $0.version = 2 }),
            BadMessage(name: "the type 0", bytes: raw { $0.type = 0 }),
            BadMessage(name: "a type that does not exist", bytes: raw { $0.type = 5 }),
            BadMessage(name: "the serial number 0", bytes: raw { $0.serial = 0 }),
            BadMessage(name: "a signal", bytes: raw { $0.type = 4 }),
            BadMessage(name: "no answer is wanted", bytes: raw { $0.flags = 1 }),
            BadMessage(
                name: "a destination",
                bytes: raw { $0.fields.append(RawMessage.text(6, "org.example.Handoff")) }),
            BadMessage(name: "a sender", bytes: raw { $0.fields.append(RawMessage.text(7, ":1.1")) }),
            BadMessage(
                name: "another object", bytes: raw { $0.fields[0] = RawMessage.path("/org/example/Handoff") }),
            BadMessage(name: "no object", bytes: raw { $0.fields.removeFirst() }),
            BadMessage(name: "no interface", bytes: raw { $0.fields.remove(at: 1) }),
            BadMessage(name: "no member", bytes: raw { $0.fields.remove(at: 2) }),
            BadMessage(name: "an object twice", bytes: raw { $0.fields.append(path) }),
            BadMessage(
                name: "an interface that D-Bus reserves",
                bytes: raw { $0.fields[1] = RawMessage.text(2, "org.freedesktop.DBus.Local") }),
            BadMessage(
                name: "an interface whose name is none",
                bytes: raw { $0.fields[1] = RawMessage.text(2, "Handoff") }),
            BadMessage(
                name: "a descriptor",
                bytes: raw { $0.fields.append([9, 1, UInt8(ascii: "u"), 0, 1, 0, 0, 0]) }),
            BadMessage(
                name: "a field that nobody knows", bytes: raw { $0.fields.append(RawMessage.text(42, "x")) }),
            BadMessage(name: "a flag that nobody knows", bytes: raw { $0.flags = 0x80 }),
            BadMessage(name: "padding that is not zero", bytes: raw { $0.padding = 1 }),
            BadMessage(name: "a header of more than 2 KiB", bytes: raw { $0.fields.append(longest) }),
            BadMessage(
                name: "more than 16 KiB, of which the header has come",
                bytes: Array(
                    raw {
                        $0.set(
                            "s", RawMessage.string(String(repeating: "x", count: LinkRules.maximumMessage)))
                    }.prefix(200))),
        ]
    }

    /// Calls of `Withdraw`, which takes a string, with bodies that are none.
    private static func bodies() throws -> [BadMessage] {
        func body(_ name: String, _ signature: String, _ bytes: [UInt8]) -> BadMessage {
            var message = RawMessage(member: "Withdraw")
            message.set(signature, bytes)
            return BadMessage(name: name, bytes: message.bytes)
        }
        let text = RawMessage.string(SampleID.activity)
        var deep = [UInt8]()
        for _ in 0..<70 { deep += [1, UInt8(ascii: "v"), 0] }
        return [
            body("a string that is not UTF-8", "s", [2, 0, 0, 0, 0xC3, 0x28, 0]),
            body("a surrogate in UTF-8", "s", [3, 0, 0, 0, 0xED, 0xA0, 0x80, 0]),
            body("a string with a zero byte", "s", [2, 0, 0, 0, 0x61, 0, 0]),
            body("a string without its end", "s", [1, 0, 0, 0, 0x61, 0x62]),
            body("a string that is longer than the message", "s", [99, 0, 0, 0, 0x61, 0]),
            body("something behind the arguments", "s", text + [0]),
            body("arguments without a signature", "", text), body("a signature without arguments", "s", []),
            body("a signature that is none", "a", []), body("a truth that is neither", "b", [2, 0, 0, 0]),
            body("a descriptor in the body", "h", [0, 0, 0, 0]),
            body("an array that is longer than the message", "as", [64, 0, 0, 0]),
            body("padding in the body that is not zero", "yu", [1, 1, 0, 0, 1, 0, 0, 0]),
            body("a variant with two values", "v", [2, UInt8(ascii: "y"), UInt8(ascii: "y"), 0, 1, 1]),
            body("variants within 70 variants", "v", deep + [1, UInt8(ascii: "y"), 0, 1]),
        ]
    }

    private static func members() throws -> [BadMessage] {
        func call(_ name: String, _ interface: String, _ member: String, peer: Bool = true) -> BadMessage {
            BadMessage(
                name: name, bytes: RawMessage(interface: interface, member: member).bytes, isFromPeer: peer)
        }
        let ours = "org.example.Handoff"
        return [
            call("an interface that is not open", "\(ours).Manager", "Enabled"),
            call("an interface of every bus", "org.freedesktop.DBus.Peer", "Ping"),
            call("the properties of an interface", "org.freedesktop.DBus.Properties", "GetAll"),
            call("a member of Link that does not exist", "\(ours).Link", "Fly"),
            call("a member of Peer that does not exist", "\(ours).Peer", "Fly"),
            call("a stranger calls Ping", "\(ours).Link", "Ping", peer: false),
            call("a stranger calls Unpair", "\(ours).Link", "Unpair", peer: false),
            call("a stranger calls List", "\(ours).Peer", "List", peer: false),
            call("a stranger calls a member that does not exist", "\(ours).Peer", "Fly", peer: false),
        ]
    }

    private static func arguments() throws -> [BadMessage] {
        let (link, peer) = (LinkBinding.description, PeerBinding.description)
        func call(_ name: String, _ interface: InterfaceDescription, _ member: String, _ arguments: Value...)
            throws
            -> BadMessage
        {
            let message = try Message.call(to: nil, "/", interface.name, try MemberName(member))
            var writer = MessageWriter(message)
            for argument in arguments { try writer.writeContent(of: argument) }
            message.setSerial(1)
            return BadMessage(name: name, bytes: try message.marshal())
        }
        func introduced(_ id: [UInt8], _ places: [[UInt8]], count: Int = 1) throws -> Value {
            let one = try Value.structure([.bytes(id), .string(""), .string(""), .byteArrays(places)])
            return try .array(of: "(ayssaay)", Array(repeating: one, count: count))
        }
        let (id, place) = (Vectors.row(0x40, 32), Vectors.places[0])
        let activity = Value.string(SampleID.activity)
        let large = Value.properties(["Title": .string(String(repeating: "x", count: 5000))])
        return try [
            call("another type of argument", peer, "Withdraw", .uint32(1)),
            call("an argument is missing", peer, "Withdraw"),
            call("an argument too many", peer, "Withdraw", activity, activity),
            call("an id in capitals", peer, "Withdraw", .string(SampleID.activity.uppercased())),
            call("an id that is too short", peer, "Withdraw", .string(String(SampleID.activity.dropLast()))),
            call("an empty id", peer, "Withdraw", .string("")),
            call("Since is no number", peer, "Offer", activity, .properties(["Since": .string("1")])),
            call("a summary of more than 4 KiB", peer, "Offer", activity, large),
            call("Invite to what is not offered", peer, "Invite", activity),
            call("OpenStream of Peer", peer, "OpenStream", activity),
            call("OpenDocument of Peer", peer, "OpenDocument", activity),
            call("a token that is too short", link, "OpenStream", activity, .bytes(Vectors.row(0, 15))),
            call(
                "a token from the side that did dial", link, "OpenStream", activity,
                .bytes(Vectors.row(0, 16))),
            call(
                "a token from that side, for a document", link, "OpenDocument", activity,
                .bytes(Vectors.row(0, 16))),
            call(
                "an introduced id that is too short", link, "Introduce", introduced(Array(id.dropLast()), [])),
            call("five places", link, "Introduce", introduced(id, Array(repeating: place, count: 5))),
            call("a place without a port", link, "Introduce", introduced(id, [place.dropLast(2) + [0, 0]])),
            call("62 devices", link, "Introduce", introduced(id, [], count: 62)),
            call("a retracted id that is too long", link, "Retract", .byteArrays([id + [0]])),
            call("62 ids", link, "Retract", .byteArrays(Array(repeating: id, count: 62))),
            call("Sent is no id", peer, "ClipboardChanged", .properties(["Sent": .string("x")])),
        ]
    }

    /// `Hello`, once it has been said.
    private static func hellos() throws -> [BadMessage] {
        func hello(_ name: String, version: UInt32 = 1, _ about: [String: Value] = [:]) throws -> BadMessage {
            let message = try Message.call(to: nil, "/", LinkBinding.description.name, "Hello")
            var (writer, about) = (MessageWriter(message), about)
            about["Paired"] = about["Paired"] ?? .boolean(true)
            try writer.write(version)
            try writer.writeContent(of: .properties(about))
            message.setSerial(1)
            return BadMessage(name: name, bytes: try message.marshal())
        }
        let place = Vectors.places[0]
        return try [
            hello("a version that is not there yet", version: 2),
            hello("the greatest version", version: .max),
            hello("a key that nobody knows", ["Colour": .string("red")]),
            hello("a type that nobody knows", ["Name": .string("x"), "Type": .string("spaceship")]),
            hello("the version 0", version: 0), hello("Paired is a string", ["Paired": .string("true")]),
            hello("Secret has seven bytes", ["Secret": .bytes(Vectors.row(0, 7))]),
            hello("Port is a string", ["Port": .string("45712")]),
            hello("Name is bytes", ["Name": .bytes([0x61])]),
            hello("nine places", ["Places": .byteArrays(Array(repeating: place, count: 9))]),
            hello("a place of 17 bytes", ["Places": .byteArrays([Array(place.dropLast())])]),
            hello(
                "a place on the loopback interface",
                ["Places": .byteArrays([place.prefix(12) + [127, 0, 0, 1, 0xB2, 0x90]])]),
        ]
    }

    private static func others() throws -> [BadMessage] {
        func first(_ name: String, _ interface: String, _ member: String) -> BadMessage {
            BadMessage(
                name: name, bytes: RawMessage(interface: interface, member: member).bytes, comesFirst: true)
        }
        var reply = RawMessage()
        (reply.type, reply.flags) = (2, 1)
        reply.fields = [[5, 1, UInt8(ascii: "u"), 0, 0xA0, 0x0F, 0, 0]]
        let commit = try SampleCall(PairingBinding.description, "Commit", .bytes(Vectors.row(0, 31)))
        let confirm = try SampleCall(PairingBinding.description, "Confirm")
        return [
            BadMessage(name: "a reply to no call", bytes: reply.bytes),
            BadMessage(name: "a reply before Hello", bytes: reply.bytes, comesFirst: true),
            first("Ping before Hello", "org.example.Handoff.Link", "Ping"),
            first("Request before Hello", "org.example.Handoff.Pairing", "Request"),
            first("an interface that is not open, before Hello", "org.example.Handoff.Manager", "Enabled"),
            BadMessage(
                name: "a commitment that is too short", bytes: try commit.message.marshal(), isFromPeer: false
            ),
            BadMessage(
                name: "Confirm before anything is compared", bytes: try confirm.message.marshal(),
                isFromPeer: false),
        ]
    }
}

/// A message in bytes, right or wrong; as it is made, a call of `Ping`.
struct RawMessage {
    var order = UInt8(ascii: "l")
    var type: UInt8 = 1
    var flags: UInt8 = 0
    var version: UInt8 = 1
    /// Any but 0 will do.
    var serial: UInt32 = 1
    /// The fields of its header, each without what fills up to the next.
    var fields: [[UInt8]]
    /// What fills up to the body.
    var padding: UInt8 = 0
    private var body: [UInt8] = []

    init(interface: String = "org.example.Handoff.Link", member: String = "Ping") {
        fields = [Self.path("/"), Self.text(2, interface), Self.text(3, member)]
    }

    static func path(_ path: String) -> [UInt8] { [1, 1, UInt8(ascii: "o"), 0] + string(path) }
    static func text(_ code: UInt8, _ text: String) -> [UInt8] {
        [code, 1, UInt8(ascii: "s"), 0] + string(text)
    }
    static func string(_ text: String) -> [UInt8] { number(text.utf8.count) + text.utf8 + [0] }

    private static func number(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// Gives it a body.
    mutating func set(_ signature: String, _ body: [UInt8]) {
        if !signature.isEmpty {
            fields.append([8, 1, UInt8(ascii: "g"), 0, UInt8(signature.utf8.count)] + signature.utf8 + [0])
        }
        self.body = body
    }

    var bytes: [UInt8] {
        var header: [UInt8] = []
        for field in fields {
            while header.count % 8 != 0 { header.append(0) }
            header += field
        }
        var bytes = [order, type, flags, version] + Self.number(body.count) + Self.number(Int(serial))
        bytes += Self.number(header.count) + header
        while bytes.count % 8 != 0 { bytes.append(padding) }
        return bytes + body
    }
}
