// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import HandoffCore
import HandoffSession
import Platform
import TestSupport
import Testing

@testable import HandoffBridge

private let first = String(repeating: "1", count: 64)
private let second = String(repeating: "2", count: 64)

private func entry(_ text: String, _ change: (inout TrustEntry) -> Void = { _ in }) throws -> TrustEntry {
    var entry = TrustEntry(try #require(DeviceID(text)), name: "Lap; top=1", type: "laptop", source: .trust)
    change(&entry)
    return entry
}

@Suite("The trust store")
struct TrustTests {
    private static let group = """
        Name=a
        Type=
        Source=trust
        Addresses=
        Mutual=false

        """

    @Test("what a bridge left that was killed while it wrote is removed by the next one, and nothing else")
    func unfinished() async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            let state = folder.path("state")
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let others = ["outbox", "trust", "trust.x", "trust.1234567", "other.AbC123", "outboxes.AbC123"]
            for name in others + ["outbox.AbC123", "trust.000000", "identity.pem.zzzzzz"] {
                _ = try folder.write("", to: "state/\(name)")
            }
            try StateFolder(state).lock()
            let left = try FileManager.default.contentsOfDirectory(atPath: state)
            #expect(Set(left) == Set(others + [HandoffDirectories.lockName]))
        }
    }

    @Test("places that cannot be understood are none, and the rest of the file counts")
    func places() async throws {
        try await onLoop {
            for (places, since, count) in [
                ("10.8.0.2:1;10.8.0.2:1;", "7", 1), ("10.8.0.2:1;", "-5", 0), ("10.8.0.2:1;", "abc", 0),
                ("nowhere;127.0.0.1:1;10.8.0.2:0;", "7", 0), ("", "7", 0),
            ] {
                let text = """
                    [Trust]
                    Version=1
                    Count=1
                    [\(first)]
                    Since=0
                    Name=a
                    Type=
                    Source=trust
                    Addresses=
                    Secret=
                    SecretSince=0
                    FormerSecret=
                    AwaitsLink=false
                    Places=\(places)
                    PlacesSince=\(since)
                    Mutual=false

                    """
                let contents = try TrustFile.parse(KeyFile(text: text))
                #expect(contents.entries.map { $0.places(at: 8).count } == [count], "\(places) \(since)")
            }
        }
    }

    @Test("what is written is read again, whatever the names are")
    func roundTrip() async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            let store = TrustStore(in: StateFolder(folder.path("state")))
            let entries = [
                try entry(first) {
                    $0.addresses = [
                        NetworkAddress(host: "::1", port: 9), NetworkAddress(host: "a.b", port: 1),
                    ]
                    let places = ["10.8.0.2:45700", "[2001:db8::7]:45701"].compactMap { NetworkAddress($0) }
                    $0.remember(places: places.compactMap { KnockDestination($0) }, at: 7)
                },
                try entry(second) { ($0.name, $0.isMuted) = ("", true) },
            ]
            for entry in entries { try store.put(entry) }
            store.note(entries[1].device) {
                $0.name = "\\n[Trust] = #"
                $0.isMutual = true
            }
            store.flush()
            let again = TrustStore(in: StateFolder(folder.path("state")))
            try again.load()
            #expect(again.entries == store.entries)
            #expect(again[entries[1].device]?.name == "\\n[Trust] = #")
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("state/trust"))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            again.remove(entries[0].device, isByUser: true)
            again.remove(entries[1].device, isByUser: false)
            try store.load()
        }
    }

    @Test(
        "whom the user does not want is kept, and whom others have unpaired and the user keeps, until they are paired"
    )
    func declined() async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            let store = TrustStore(in: StateFolder(folder.path("state")))
            let kept: Set = [try device(3), try device(4)]
            let (one, two) = (
                try entry(first) { $0.isMutual = true }, try entry(second) { $0.keptDespite = kept }
            )
            try store.put(one)
            try store.put(two)
            try store.decline(try device(5))
            store.remove(one.device, isByUser: true)
            let again = TrustStore(in: StateFolder(folder.path("state")))
            try again.load()
            #expect(again[two.device]?.keptDespite == two.keptDespite)
            #expect(again.isDeclined(one.device))
            #expect(again.isDeclined(try device(5)))
            #expect(again.unpairedByUser == [one.device])
            again.remove(two.device, isByUser: true)
            // Nothing had come of the trust in it yet.
            #expect(again.isDeclined(two.device) && again.unpairedByUser == [one.device])
            try again.put(one)
            #expect(!again.isDeclined(one.device) && again.unpairedByUser == [])
            for number in 100..<UInt8(100 + DeclinedDevice.maximum) { try again.decline(try device(number)) }
            #expect(!again.isDeclined(two.device))
            #expect(again.isDeclined(try device(100)))
        }
    }

    @Test("a device that has not heard that it was unpaired is recognised when it is trusted again")
    func trustedAgain() async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            let store = TrustStore(in: StateFolder(folder.path("state")))
            let known = try secret(7)
            let one = try entry(first) { $0.agree(on: known, at: 1) }
            try store.pair(one)
            store.remove(one.device, isByUser: true)
            try store.put(TrustEntry(one.device, source: .introduction, awaitsLink: true))
            #expect(store[one.device]?.secrets == [known])
            #expect(store.tombstones == [])
            // What it shows is no secret that others may still find it by.
            #expect(store.peerSecrets == [])
        }
    }

    @Test("a device counts as unwanted for a year, and peers hear for thirty days that it was unpaired")
    func declinedFor() throws {
        let day: Int64 = 86_400 * 1_000_000
        let one = DeclinedDevice(device: try device(1), since: day, isUnpaired: true)
        let other = DeclinedDevice(device: try device(1), since: day, isUnpaired: false)
        for (time, isAlive, isRetracted) in [
            (0, false, false), (day, true, true), (31 * day - 1, true, true), (31 * day, true, false),
            (366 * day - 1, true, false), (366 * day, false, false),
        ] {
            #expect(one.isAlive(at: time) == isAlive && one.isRetracted(at: time) == isRetracted)
            #expect(other.isAlive(at: time) == isAlive && !other.isRetracted(at: time))
        }
        #expect(!DeclinedDevice(device: one.device, since: -1, isUnpaired: true).isAlive(at: .max))
    }

    @Test("a device is muted only if the file says so, and the file is damaged if it says so in other words")
    func muted() throws {
        let text = TrustFile.render([try entry(first) { $0.isMuted = true }, try entry(second)]).text
        func contents(_ text: String) throws -> [Bool] {
            let file = try KeyFile(bytes: Array(text.utf8), name: "trust")
            return try TrustFile.parse(file).entries.map(\.isMuted)
        }
        #expect(try contents(text) == [true, false])
        #expect(try contents(text.replacing("Muted=true\n", with: "")) == [false, false])
        for word in ["tru", "", "yes"] {
            #expect(throws: (any Error).self) {
                try contents(text.replacing("Muted=true", with: "Muted=\(word)"))
            }
        }
    }

    @Test(
        "a damaged file is set aside and said to be damaged",
        arguments: [
            "", "\n", "garbage", "[Trust]\n", "[Trust]\nVersion=1\n", "[Trust]\nVersion=x\nCount=0\n",
            "[Trust]\nVersion=0\nCount=0\n", "[Trust]\nVersion=1\nCount=1\n",
            "[Trust]\nVersion=1\nCount=-1\n",
            "[Other]\nA=1\n[Trust]\nVersion=1\nCount=1\n",
            "[Trust]\nVersion=1\nCount=1\n[xyz]\n\(group)",
            "[Trust]\nVersion=1\nCount=1\n[\(first)]\nName=a\n",
            "[Trust]\nVersion=1\nCount=1\n[\(first)]\n\(group.replacing("Mutual=false", with: "Mutual=fal"))",
            "[Trust]\nVersion=1\nCount=1\n[\(first)]\n\(group.replacing("Source=trust", with: "Source=me"))",
            "[Trust]\nVersion=1\nCount=1\n[\(first)]\n\(group)[\(second)]\n\(group)",
            "[Trust]\nVersion=1\nCount=1\n[\(first)]\n\(group)[\(first)]\n\(group)",
            "[Trust]\nVersion=1\nCount=0\n[Trust]\nVersion=1\nCount=0\n",
            String(repeating: "#", count: 2 << 20), "\0", "[Trust]\nVersion=1\nCount=0\n\u{FF}\0",
        ])
    func damage(text: String) async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            let path = try folder.write(text, to: "state/trust")
            let store = TrustStore(in: StateFolder(folder.path("state")))
            #expect(throws: StartFailure.self) { try store.load() }
            #expect(store.entries.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: path))
            let kept = try FileManager.default.contentsOfDirectory(atPath: folder.path("state"))
            #expect(kept.count == 1 && kept[0].hasPrefix("trust.damaged-"))
        }
    }

    @Test("every cut of a whole file is found out")
    func cuts() async throws {
        try await onLoop {
            let text = TrustFile.render([try entry(first), try entry(second)]).text
            for length in 0..<text.utf8.count - 1 {
                let cut = String(decoding: text.utf8.prefix(length), as: UTF8.self)
                #expect(throws: (any Error).self, "cut to \(length) bytes") {
                    _ = try TrustFile.parse(try KeyFile(text: cut))
                }
            }
        }
    }

    @Test("a file of a later version is left alone")
    func later() async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            let path = try folder.write("[Trust]\nVersion=2\nCount=7\n", to: "state/trust")
            let store = TrustStore(in: StateFolder(folder.path("state")))
            #expect(throws: StartFailure.self) { try store.load() }
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("an entry that cannot be written is not taken")
    func unwritable() async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            try folder.write("in the way", to: "state")
            let store = TrustStore(in: StateFolder(folder.path("state")))
            #expect(throws: KeyFileError.self) { try store.put(try entry(first)) }
            #expect(store.entries.isEmpty)
        }
    }

    @Test("the latest address comes first, and only some are remembered")
    func addresses() throws {
        var entry = try entry(first)
        for port in [1, 2, 3, 2, 4, 5, 6] as [UInt16] {
            entry.remember(NetworkAddress(host: "h", port: port))
        }
        #expect(entry.addresses.map(\.port) == [6, 5, 4, 2])
    }

    @Test("a peer's word ends the trust, unless it was entered by hand and the peer never had any")
    func endsWithPeer() throws {
        #expect(try !entry(first).endsWithPeersTrust)
        #expect(try entry(first) { $0.isMutual = true }.endsWithPeersTrust)
        #expect(try entry(first) { $0.source = .pairing }.endsWithPeersTrust)
    }
}

@Suite("Room in the trust store")
struct TrustRoomTests {
    @Test("there is some for 62 devices, however they come, and what is refused changes nothing")
    func room() async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            try StateFolder(folder.path("state")).lock()
            let store = TrustStore(in: StateFolder(folder.path("state")))
            for number in 0..<UInt8(TrustStore.maximumPeers) {
                try store.put(TrustEntry(try device(number), source: .pairing))
            }
            #expect(throws: HandoffFailure.self) {
                try store.put(TrustEntry(try device(99), source: .pairing))
            }
            try store.put(TrustEntry(try device(0), name: "again", source: .pairing))
            let again = TrustStore(in: StateFolder(folder.path("state")))
            try again.load()
            #expect(again.entries.count == TrustStore.maximumPeers)
        }
    }
}

@Suite("The secret in an entry of the trust store")
struct TrustSecretTests {
    @Test("while a new one is not certain, the one counts that the device has named, else the one before")
    func agree() throws {
        var entry = TrustEntry(try #require(DeviceID(first)), source: .pairing)
        entry.agree(on: try secret(1), at: 1)
        #expect(entry.secrets == [try secret(1)])
        // Twice, a link gave a secret that the device did not get to save, so it still has the first.
        entry.agree(on: try secret(2), named: try secret(1).id, at: 2)
        entry.agree(on: try secret(3), named: try secret(1).id, at: 2)
        #expect(entry.secrets == [try secret(3), try secret(1)])
        entry.agree(on: try secret(4), named: [], at: 3)
        #expect(entry.secrets == [try secret(4), try secret(3)])
    }

    @Test("a secret is old after a day, and if it is from the future; none is never old")
    func age() throws {
        let day: Int64 = 86_400_000_000
        var entry = TrustEntry(try #require(DeviceID(first)), source: .pairing)
        #expect(!entry.isSecretOld(at: day))
        entry.agree(on: try secret(1), at: 1000)
        for (now, isOld) in [
            (1000, false), (1000 + day, false), (1001 + day, true), (999, true), (Int64.min, true),
            (.max, true),
        ] {
            #expect(entry.isSecretOld(at: now) == isOld, "at \(now)")
        }
        entry.agree(on: try secret(1), at: day)
        #expect(entry.secretSince == 1000, "the same secret is not a new one")
    }

    @Test(
        "a device whose id was entered is knocked for with what the ids tell until it has named the secret of a link"
    )
    func trustKey() throws {
        let (ours, theirs) = (try device(1), try device(2))
        let key = PeerSecret(trustBetween: ours, and: theirs)
        #expect(key == PeerSecret(trustBetween: theirs, and: ours))
        #expect(key != PeerSecret(trustBetween: ours, and: try device(3)))
        var entry = TrustEntry(theirs, source: .trust, awaitsLink: true)
        #expect(entry.knockSecrets(as: ours) == [key] && entry.secrets == [])
        entry.agree(on: try secret(1), at: 1)
        #expect(entry.knockSecrets(as: ours) == [try secret(1), key])
        entry.linked()
        entry.named(try secret(2).id)
        #expect(
            entry.knockSecrets(as: ours) == [try secret(1), key], "the other side may not know of the link")
        entry.named(try secret(1).id)
        #expect(entry.knockSecrets(as: ours) == [try secret(1)])
    }
}
