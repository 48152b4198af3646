// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import Testing

@testable import HandoffBridge

/// The ids that messages name.
enum SampleID {
    static let activity = "0123456789abcdef0123456789abcdef"
    static let continuation = "fedcba9876543210fedcba9876543210"
}

extension Vectors {
    private static let link = LinkBinding.description
    private static let pairing = PairingBinding.description
    private static let peer = PeerBinding.description

    /// Places of both families.
    static let places =
        [
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 8, 0, 2, 0xB2, 0x90],
            [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0xB2, 0x90],
        ] as [[UInt8]]

    private static func hexadecimal(_ digits: String) -> [UInt8] {
        let digits = Array(digits.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }

    /// The messages that travel over a link.
    func messages() throws -> JSON {
        let calls = try calls()
        let members = [Self.link, Self.pairing, Self.peer].flatMap { description in
            description.methods.map { "\(description.name).\($0.name)" }
        }
        // These two carry descriptors, which no link can.
        let absent = ["OpenStream", "OpenDocument"].map { "\(Self.peer.name).\($0)" }
        #expect(Set(calls.map(\.method)) == Set(members).subtracting(absent))
        return [
            "calls": .list(try calls.map { try $0.vector() }),
            "answers": .list(try answers()),
            "bigEndian": .list(try bigEndian()),
        ]
    }

    private func calls() throws -> [SampleCall] {
        let (activity, continuation) = (Value.string(SampleID.activity), Value.string(SampleID.continuation))
        let token = Value.bytes(Self.row(0xE0, 16))
        let hello = LinkHello(isPaired: true, secret: secret.id, port: Self.port)
        var whole = LinkHello(
            isPaired: false, name: "K\u{FC}che", type: "laptop", port: Self.port,
            places: Self.places.compactMap { KnockDestination(said: $0) })
        whole.secret = []
        let introduction = Introduction(phone, name: "phone", type: "phone", places: whole.places ?? [])
        let introduced = try Value.array(
            of: "(ayssaay)",
            [
                try .structure([
                    .bytes(introduction.device.bytes), .string(introduction.name), .string(introduction.type),
                    .byteArrays(introduction.places.map(\.bytes)),
                ])
            ])
        let summary: [String: Value] = [
            "ActivityType": .string("com.example.notes.edit"), "ApplicationId": .string("com.example.Notes"),
            "Title": .string("A letter"), "WebpageHost": .string("example.com"), "Revision": .uint64(3),
            "Since": .int64(2_000_000), "SupportsContinuationStreams": .boolean(true),
        ]
        var parked = summary
        parked["SupportsContinuationStreams"] = nil
        return try [
            SampleCall(Self.link, "Hello", .uint32(LinkHello.version), .properties(hello.about)),
            SampleCall(Self.link, "Hello", .uint32(LinkHello.version), .properties(whole.about)),
            SampleCall(Self.link, "Unpair"), SampleCall(Self.link, "Ping"),
            SampleCall(Self.link, "Introduce", introduced),
            SampleCall(Self.link, "Introduce", .array(of: "(ayssaay)", [])),
            SampleCall(Self.link, "Retract", .byteArrays([phone.bytes])),
            SampleCall(Self.link, "OpenStream", continuation, .bytes([])),
            SampleCall(Self.link, "OpenStream", continuation, token),
            SampleCall(Self.link, "OpenDocument", continuation, .bytes([])),
            SampleCall(Self.pairing, "Request"), SampleCall(Self.pairing, "Commit", .bytes(Self.row(0, 32))),
            SampleCall(Self.pairing, "Reveal", .bytes(Self.row(0x20, 32))),
            SampleCall(Self.pairing, "Confirm"),
            SampleCall(Self.pairing, "Cancel", .string("The codes did not match.")),
            SampleCall(Self.peer, "Offer", activity, .properties(summary)),
            SampleCall(Self.peer, "Withdraw", activity), SampleCall(Self.peer, "Invite", activity),
            SampleCall(Self.peer, "Park", activity, .properties(parked), .properties(payload)),
            SampleCall(Self.peer, "List"), SampleCall(Self.peer, "Fetch", activity, continuation),
            SampleCall(Self.peer, "Continued", continuation), SampleCall(Self.peer, "Release", continuation),
            SampleCall(Self.peer, "ContinuedParked", activity, continuation, .uint64(3)),
            SampleCall(Self.peer, "Dismissed", activity),
            SampleCall(
                Self.peer, "ClipboardChanged",
                .properties(["Types": .strings(["text/plain"]), "Age": .int64(1000), "Lot": .uint64(7)])),
            SampleCall(Self.peer, "FetchClipboard", .string("text/plain"), .string("")),
        ]
    }

    /// The state of an activity.
    private var payload: [String: Value] {
        [
            "ActivityType": .string("com.example.notes.edit"), "ApplicationId": .string("com.example.Notes"),
            "Team": .string("com.example.Notes"), "Title": .string("A letter"), "Revision": .uint64(3),
            "UserInfo": .properties(["line": .int32(-12), "zoom": .double(1.5)]),
        ]
    }

    /// The replies that hold something, one that holds nothing, and errors.
    private func answers() throws -> [JSON] {
        let token = Value.bytes(Self.row(0xE0, 16))
        let about: [String: Value] = [
            "Name": .string("letter.txt"), "Size": .uint64(5), "ContentType": .string("text/plain"),
            "Modified": .int64(1_700_000_000_000_000), "Document": .string(SampleID.activity),
        ]
        let listed = try Value.array(
            of: "(sa{sv})",
            [
                try .structure([
                    .string(SampleID.activity),
                    .properties([
                        "ActivityType": .string("a.b"), "ApplicationId": .string("a.B"), "Used": .int64(5),
                    ]),
                ])
            ])
        let content = Value.properties([
            "Types": .strings(["text/plain"]), "Sizes": .numbers([2]), "Content": .bytes(Array("Hi".utf8)),
        ])
        let replies: [(InterfaceDescription, String, [Value])] = [
            (Self.link, "Hello", []), (Self.link, "OpenStream", [token]),
            (Self.link, "OpenStream", [.bytes([])]),
            (Self.link, "OpenDocument", [token, .properties(about)]),
            (Self.pairing, "Commit", [.bytes(Self.row(0x60, 32))]),
            (Self.peer, "Fetch", [.properties(payload)]), (Self.peer, "List", [listed]),
            (Self.peer, "FetchClipboard", [content]),
        ]
        let errors: [(InterfaceDescription, String, HandoffFailure)] = [
            (Self.peer, "Fetch", HandoffFailure(.offerWithdrawn, "It is not offered any more.")),
            (Self.peer, "Offer", HandoffFailure(.cancelled, "It was put aside.")),
            (Self.pairing, "Confirm", HandoffFailure(.pairingFailed, "Nothing is compared.")),
            (Self.link, "Hello", HandoffFailure(.invalidArguments, "Secret has the type s.")),
        ]
        let vectors = try replies.map { (description, member, arguments) throws -> JSON in
            let sample = try SampleCall(description, member)
            #expect(arguments.map(\.typeSignature).joined() == sample.output, "\(member)")
            return try sample.vector(of: .reply(to: sample.message), "reply", arguments)
        }
        return try errors.reduce(into: vectors) { vectors, one in
            let sample = try SampleCall(one.0, one.1)
            vectors.append(
                try sample.vector(of: .error(DBusError.converting(one.2), to: sample.message), "error"))
        }
    }

    /// The first of `calls`, from a device that writes big-endian numbers, which this one never does.
    private func bigEndian() throws -> [JSON] {
        let bytes = Self.hexadecimal(
            "420100010000004c000000020000005401016f00000000012f0000000000000002017300000000186f72672e6578616d"
                + "706c652e48616e646f66662e4c696e6b0000000000000000030173000000000548656c6c6f000000080167000675617b"
                + "73767d0000000000000000010000004400000006506169726564000162000000000000010000000000000004506f7274"
                + "00017100b290000000000006536563726574000261790000000000082e2699393f6f9166")
        let message = try arrived(bytes)
        #expect(LinkRules.violation(by: message, isFirst: true) == nil)
        var reader = MessageReader(message)
        #expect(try reader.read(UInt32.self) == LinkHello.version)
        let about = try LinkHello(reader.read([String: Value].self))
        #expect(about == LinkHello(isPaired: true, secret: secret.id, port: Self.port))
        return [["method": "org.example.Handoff.Link.Hello", "bytes": .bytes(bytes)]]
    }
}

/// The message of which `bytes` are all that arrives over a link, which has to be one that may.
private func arrived(_ bytes: [UInt8], answering call: String? = nil) throws -> Message {
    var framer = Framer(Framer.Limits(header: LinkRules.maximumHeader, message: LinkRules.maximumState))
    bytes.withUnsafeBytes { framer.add($0) }
    let next = try framer.next { (message) throws(DBusError) in
        try LinkRules.verdict(on: message) { _ in call.map { .awaited($0) } ?? .unknown }
    }
    let message = try #require(next)
    try message.checkBody()
    #expect(message.length == bytes.count && LinkRules.serves(message.interface) == (call == nil))
    return message
}

/// A call that travels over a link, with its arguments.
struct SampleCall {
    /// The serial number of all of them.
    private static let serial: UInt32 = 2
    let message: Message
    /// The signature of its reply.
    let output: String
    private let member: String
    private let interface: String
    private let arguments: [Value]

    /// The call of `member`, with the arguments that its interface says, or none at all.
    init(_ description: InterfaceDescription, _ member: String, _ arguments: Value...) throws {
        let method = try #require(description.methods.first { $0.name == member })
        let types = arguments.map(\.typeSignature).joined()
        #expect(arguments.isEmpty || types == method.input, "\(member) takes \(method.input)")
        (self.member, interface) = (member, description.name.text)
        // What is answered, only the XML says.
        let element = description.xml.split(separator: "<method name=\"\(member)\">").dropFirst().first ?? ""
        output =
            element.split(separator: "</method>").first.map {
                $0.matches(of: /<arg type="([^"]*)"[^>]*direction="out"/).map { String($0.1) }.joined()
            } ?? ""
        self.arguments = arguments
        message = try Message.call(to: nil, "/", description.name, try MemberName(member))
        var writer = MessageWriter(message)
        for argument in arguments { try writer.writeContent(of: argument) }
        message.setSerial(Self.serial)
    }

    /// The member, written `interface.member`.
    var method: String { "\(interface).\(member)" }

    /// The call as a vector.
    func vector() throws -> JSON {
        let bytes = try message.marshal()
        let arrived = try arrived(bytes)
        #expect(LinkRules.violation(by: arrived, isFirst: false) == nil)
        return [
            "method": .text(method), "serial": .number(Self.serial),
            "arguments": .list(arguments.map { .typed($0) }),
            "bytes": .bytes(bytes),
        ]
    }

    /// `answer`, which answers this call, as a vector, with these arguments.
    func vector(of answer: Message, _ kind: String, _ arguments: [Value] = []) throws -> JSON {
        var writer = MessageWriter(answer)
        for argument in arguments { try writer.writeContent(of: argument) }
        answer.setSerial(3)
        let bytes = try answer.marshal()
        let arrived = try arrived(bytes, answering: method)
        #expect(LinkRules.violation(by: arrived, isFirst: false) == nil)
        var shown = arguments
        var members: [(key: String, value: JSON)] = [
            ("answers", .text(method)), ("kind", .text(kind)), ("serial", .number(3 as Int)),
            ("replySerial", .number(Self.serial)),
        ]
        if let error = arrived.error {
            members.append(("error", .text(error.name.text)))
            shown = [.string(error.message)]
        }
        return .object(
            members + [("arguments", .list(shown.map { .typed($0) })), ("bytes", .bytes(bytes))])
    }
}
