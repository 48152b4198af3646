// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Platform
import Testing

@testable import HandoffBridge

@Suite("Base 32")
struct Base32Tests {
    @Test(
        "is that of RFC 4648 without padding",
        arguments: [
            ("", ""), ("f", "my"), ("fo", "mzxq"), ("foo", "mzxw6"), ("foob", "mzxw6yq"),
            ("fooba", "mzxw6ytb"),
            ("foobar", "mzxw6ytboi"),
        ])
    func examples(_ plain: String, _ text: String) {
        #expect(Base32.encode(Array(plain.utf8)) == text)
        #expect(Base32.decode(text) == Array(plain.utf8))
        #expect(Base32.decode(text.uppercased()) == Array(plain.utf8))
    }

    @Test("whatever was encoded is decoded")
    func roundTrip() {
        for count in 0...40 {
            let bytes = RandomBytes.make(count)
            #expect(Base32.decode(Base32.encode(bytes)) == bytes)
        }
    }

    @Test(
        "nothing else is decoded",
        arguments: ["1", "a", "mz1q", "mzx", "mzxr", "my======", "mÿ", "m y", "aaaaaa"])
    func garbage(_ text: String) { #expect(Base32.decode(text) == nil) }
}

@Suite("The text of an announcement")
struct AnnouncementTests {
    private let tags = (0..<62).map { [UInt8](repeating: UInt8($0), count: 8) }

    @Test("is read as it was written", arguments: [0, 8, 16, 31, 62], ["", "Küche", "desk"])
    func roundTrip(_ count: Int, _ name: String) throws {
        let announcement = Announcement(tags: Array(tags.prefix(count)), name: name)
        #expect(announcement.text.allSatisfy { $0.count <= 255 })
        #expect(Announcement(text: announcement.text) == announcement)
    }

    @Test("holds no name but that of a device that lets itself be discovered")
    func name() {
        #expect(
            Announcement(tags: tags, name: "").text.map { $0.prefix(2) }
                == ["v=", "t=", "t1"].map { Array($0.utf8)[...] })
    }

    @Test("holds a name of at most 200 bytes, cut between characters")
    func longName() {
        let name = String(repeating: "🛰️", count: 64)
        let cut = Announcement(tags: [], name: name).name
        #expect(name.hasPrefix(cut) && (193...200).contains(cut.utf8.count))
    }

    @Test("of another version, or none, is not understood", arguments: ["v=2", "v=", "v", "V=", "x=1", ""])
    func version(_ entry: String) { #expect(Announcement(text: [Array(entry.utf8)]) == nil) }

    @Test("of others may be anything")
    func hostile() throws {
        func read(_ entries: [UInt8]...) throws -> Announcement {
            try #require(Announcement(text: [Array("v=1".utf8)] + entries))
        }
        // These are a part of a tag, more tags than there can be, and a tag without a value.
        #expect(try read(Array("t=".utf8) + [UInt8](repeating: 1, count: 15)).tags.count == 1)
        #expect(try read(Array("t=".utf8) + [UInt8](repeating: 1, count: 4096)).tags.count == 31)
        #expect(try read(Array("t".utf8)).tags == [])
        // The first of equal keys counts, whatever the case of its letters; others are ignored.
        #expect(try read(Array("N=a".utf8), Array("n=b".utf8), Array("zzz=".utf8), []).name == "a")
        // A name has to be text.
        #expect(try read(Array("n=".utf8) + [0xFF, 0xFE]).name == "")
        #expect(try read(Array("n=a\u{1B}[31m\u{202E}b".utf8)).name == "a\u{FFFD}[31m\u{FFFD}b")
        #expect(try read(Array("n=".utf8) + [UInt8](repeating: 0x61, count: 250)).name.count == 64)
        for count in [0, 1, 7, 8, 9, 255, 1000] {
            for _ in 0..<50 {
                _ = Announcement(text: [
                    Array("v=1".utf8), Array("t=".utf8) + RandomBytes.make(count), RandomBytes.make(count),
                ])
            }
        }
    }
}

@Suite("The tags of an announcement")
struct DiscoveryTagTests {
    private func subject(_ number: UInt8 = 1, port: UInt16 = 4711) throws -> DiscoveryTag.Subject {
        DiscoveryTag.Subject(device: try device(number), instance: [UInt8](0..<16), port: port)
    }

    private func find(_ tags: [[UInt8]], _ subject: DiscoveryTag.Subject, hour: UInt64 = 100) throws
        -> DeviceID?
    {
        let known = [
            (device: try device(2), secret: try secret(2)), (device: try device(1), secret: try secret(1)),
        ]
        return DiscoveryTag.device(
            tags, instance: subject.instance, port: subject.port, hour: hour, among: known)
    }

    @Test("are computed as the specification has it")
    func value() throws {
        // HMAC-SHA256 of "handoff tag 1", the id, the instance, port and hour, made by another program.
        let tag = DiscoveryTag.make(try subject(), for: try secret(1), hour: 0x0102_0304_0506_0708)
        #expect(tag == [0xE5, 0x8E, 0xE0, 0x18, 0xF9, 0x5C, 0xDF, 0x8C])
    }

    @Test("are found by the peer that shares the secret, an hour to either side, and by nobody else")
    func found() throws {
        let subject = try subject()
        let tags = DiscoveryTag.all(
            subject, for: [try secret(1), try secret(3)], hour: 100, fillers: DiscoveryTag.makeFillers())
        for hour in UInt64(99)...101 { #expect(try find(tags, subject, hour: hour) == device(1)) }
        for hour: UInt64 in [98, 102, 0, 1 << 62] { #expect(try find(tags, subject, hour: hour) == nil) }
        // For another device, instance or port, the tags are worth nothing.
        #expect(try find(tags, self.subject(port: 4712)) == nil)
        #expect(
            try find(DiscoveryTag.all(self.subject(2), for: [secret(1)], hour: 100, fillers: []), subject)
                == nil)
        #expect(try find([], subject) == nil)
    }

    @Test(
        "do not tell how many peers there are",
        arguments: [(0, 8), (8, 8), (9, 16), (16, 16), (17, 31), (32, 62), (62, 62)])
    func count(_ peers: Int, _ count: Int) throws {
        let secrets = try (0..<peers).map { try secret(UInt8($0)) }
        let tags = DiscoveryTag.all(try subject(), for: secrets, hour: 1, fillers: DiscoveryTag.makeFillers())
        #expect(tags.count == count && Set(tags).count == count && tags.allSatisfy { $0.count == 8 })
    }

    @Test("are the same as long as peers and hour are, but for what has changed")
    func stable() throws {
        let (subject, fillers) = (try subject(), DiscoveryTag.makeFillers())
        func tags(_ peers: UInt8..., hour: UInt64 = 1) throws -> Set<[UInt8]> {
            Set(
                DiscoveryTag.all(subject, for: try peers.map { try secret($0) }, hour: hour, fillers: fillers)
            )
        }
        #expect(try tags(1, 2) == tags(1, 2))
        #expect(try tags(1, 2).intersection(tags(1, 2, 3)).count == 7)
        #expect(
            try tags(1, 2).isDisjoint(with: DiscoveryTag.all(subject, for: [secret(1)], hour: 2, fillers: []))
        )
        #expect(Set(DiscoveryTag.makeFillers()).isDisjoint(with: DiscoveryTag.makeFillers()))
    }
}
