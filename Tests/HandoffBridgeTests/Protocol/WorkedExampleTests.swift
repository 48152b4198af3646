// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import TestSupport
import Testing

@testable import HandoffBridge
@testable import HandoffCore

@Suite("The worked example of the protocol")
struct WorkedExampleTests {
    private let example: WorkedExample
    private let desk: DeviceID
    private let lap: DeviceID
    private let secret: PeerSecret
    private let exchange: Knock.Exchange
    private static let port: UInt16 = 45712

    init() throws {
        example = try WorkedExample()
        (desk, lap) = (try example.device("id of desk"), try example.device("id of lap"))
        secret = try #require(PeerSecret(bytes: example.bytes("K")))
        exchange = Knock.Exchange(listener: try example.bytes("S"), dialler: try example.bytes("D"))
    }

    /// Where the device “desk” dials to, according to its knock.
    private func destination() throws -> KnockDestination {
        try #require(KnockDestination(NetworkAddress(host: "192.0.2.7", port: Self.port)))
    }

    @Test("has the secret that the link gives, and its name")
    func peerSecret() throws {
        #expect(PeerSecret(exporter: try example.bytes("EKM"), client: desk, server: lap) == secret)
        #expect(try secret.id == example.bytes("Secret"))
    }

    @Test("has the commitment and the code of the pairing")
    func pairing() throws {
        let transcript = PairingTranscript.make(try example.bytes("EKM"), client: desk, server: lap)
        let (na, nb) = (try example.bytes("Na"), try example.bytes("Nb"))
        #expect(try transcript.commitment(na) == example.bytes("C"))
        #expect(try transcript.code(na, nb) == example.text("code"))
        #expect(try example.text("code") == "\(example.number("code before mod") % 1_000_000)")
    }

    @Test("has the greeting, and a knock that opens the door to the dialler where it goes, and nowhere else")
    func opening() throws {
        #expect(try Knock.greeting(exchange.listener) == example.bytes("greeting"))
        let destination = try destination()
        #expect(try destination.bytes == example.bytes("A"))
        let entry = secret.knock(exchange, by: desk, to: destination)
        #expect(try entry == example.bytes("entry"))

        let knock = try example.bytes("knock")
        let head = try Knock.head(Array(knock.prefix(Knock.headSize)))
        #expect(head == Knock.Head(kind: .link, count: 8, challenge: exchange.dialler))
        let entries = Array(knock.dropFirst(Knock.headSize))
        #expect(entries.count == 8 * Knock.entrySize && entries.starts(with: entry))
        let made = Knock.link(exchange, by: desk, secrets: [secret], to: destination)
        #expect(made.count == knock.count && made.starts(with: knock.prefix(Knock.headSize) + entry))
        let known = [(device: desk, secret: secret)]
        #expect(Knock.match(entries, exchange, at: [destination, .unnamed], known) == desk)
        #expect(Knock.match(entries, exchange, at: [.unnamed], known) == nil)
    }

    @Test("has what is shown to an address that was typed, and by who was entered by Trust")
    func otherEntries() throws {
        #expect(
            try secret.knock(exchange, by: desk, to: .unnamed) == example.bytes("entry without A"))
        let key = PeerSecret(trustBetween: lap, and: desk)
        #expect(try key.bytes == example.bytes("key of Trust"))
        #expect(try key.knock(exchange, by: desk, to: .unnamed) == example.bytes("entry of Trust"))
    }

    @Test("has a first message that is taken for the Hello that it is")
    func hello() throws {
        let bytes = try example.bytes("Hello")
        var framer = Framer(
            Framer.Limits(header: LinkRules.maximumHeader, message: LinkRules.maximumState))
        framer.add(bytes)
        let next = try framer.next { (message) throws(DBusError) in
            try LinkRules.verdict(on: message) { _ in .unknown }
        }
        let message = try #require(next)
        let isWithinMessage = framer.isWithinMessage
        #expect(message.length == bytes.count && !isWithinMessage)
        try message.checkBody()
        #expect(LinkRules.violation(by: message, isFirst: true) == nil)
        var reader = MessageReader(message)
        let version = try reader.read(UInt32.self)
        let about = try LinkHello(reader.read([String: Value].self))
        #expect(version == 1)
        #expect(about == LinkHello(isPaired: true, secret: secret.id, port: Self.port))
    }

    @Test("has the places that two devices say")
    func places() throws {
        let port = OwnPlaces.port(of: lap)
        #expect(try UInt64(port) == example.number("port of places"))
        let said = [
            (name: "Places of lap", hosts: ["10.8.0.2"], port: port),
            (name: "Places", hosts: ["10.8.0.2", "2001:db8::7"], port: Self.port),
        ]
        for one in said {
            let places = one.hosts.compactMap { KnockDestination(NetworkAddress(host: $0, port: one.port)) }
            let about = LinkHello(isPaired: true, places: places).about
            let message = try Message.call(to: nil, "/", "org.example.Handoff.Link", "Hello")
            var writer = MessageWriter(message)
            try writer.write(try #require(about["Places"]))
            message.setSerial(1)
            let bytes = try example.bytes(one.name)
            #expect(try message.marshal().suffix(bytes.count) == bytes[...])
        }
    }

    @Test("has the knock and the first bytes of a stream")
    func stream() throws {
        let token = try example.bytes("token")
        #expect(try Knock.stream(exchange, by: desk, token: token) == example.bytes("stream knock"))
        let frames = try example.bytes("frames")
        var reader = StreamFrameReader()
        frames.withUnsafeBytes { bytes in
            #expect(reader.next(bytes, from: 0) == .data(4..<6))
            #expect(reader.next(bytes, from: 6) == .end(10))
        }
        #expect(frames[4..<6].elementsEqual("Hi".utf8) && frames.count == 10)
    }

    @Test("has an announcement in which the peer finds its tag")
    func announcement() throws {
        let instance = try example.bytes("instance")
        #expect(try Base32.encode(instance) == example.text("instance as a label"))
        let hour = try example.number("hour")
        #expect(DiscoveryTag.hour(at: Int64(hour) * 3_600_000_000) == hour)
        let subject = DiscoveryTag.Subject(device: lap, instance: instance, port: Self.port)
        let tag = DiscoveryTag.make(subject, for: secret, hour: hour)
        #expect(try tag == example.bytes("tag"))

        // Each string comes after its length.
        var (strings, rest) = ([[UInt8]](), try example.bytes("TXT")[...])
        while let length = rest.popFirst() {
            strings.append(Array(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        let announcement = try #require(Announcement(text: strings))
        #expect(announcement.text == strings && announcement.tags.count == 8)
        #expect(
            DiscoveryTag.device(
                announcement.tags, instance: instance, port: Self.port, hour: hour,
                among: [(device: lap, secret: secret)]) == lap)
        let fillers = announcement.tags.filter { $0 != tag }
        #expect(
            DiscoveryTag.all(subject, for: [secret], hour: hour, fillers: fillers) == announcement.tags)
    }
}
