// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

private let link: InterfaceName = "org.example.Handoff.Link"

/// The place of the device of this number.
private func place(_ number: UInt8) throws -> KnockDestination {
    try #require(KnockDestination(address: [10, 0, 0, number], port: 45_700))
}

private func introduction(_ number: UInt8, _ name: String = "", places: [UInt8] = []) throws -> Introduction {
    Introduction(try device(number), name: name, type: "laptop", places: try places.map { try place($0) })
}

@Suite("What a peer says of its other peers")
struct IntroductionTests {
    @Test("is refused, naming what is wrong, unless ids, places and their numbers are legal")
    func refused() throws {
        let id = [UInt8](repeating: 1, count: 32)
        let good = try place(1).bytes
        for (said, word) in [
            (Introduction.Said([], "", "", []), "0 bytes"),
            (Introduction.Said(id + [1], "", "", []), "33 bytes"),
            (Introduction.Said(id, "", "", Array(repeating: good, count: 5)), "at most 4"),
            (Introduction.Said(id, "", "", [good, Array(good.dropLast())]), "place"),
            (Introduction.Said(id, "", "", [[UInt8](repeating: 0, count: 18)]), "place"),
        ] {
            let failure = failure { _ = try Introduction(said) }
            #expect(failure?.code == .invalidArguments && failure?.message.contains(word) == true, "\(said)")
        }
        let one = try Introduction(Introduction.Said(id, "La\u{7}p\u{202e}", "spaceship", [good, good]))
        #expect(one.name == PeerText.name("La\u{7}p\u{202e}") && one.type.isEmpty && one.places.count == 1)
        #expect(failure { try Introduction.check(count: 62) }?.code == .invalidArguments)
        try Introduction.check(count: 61)
    }

    @Test("fits into a message, also where all names are long, and is read as it was written")
    func fits() throws {
        let long = String(repeating: "😀", count: PeerText.maximumName)
        for (name, count) in [("Laptop of the living room", 61), (PeerText.name(long), 30)] {
            let list = try (1...61).map { try introduction($0, name, places: [1, 2, 3, 4]) }
            let fitting = Introduction.fitting(list)
            #expect(fitting.count >= count)
            let message = try Message.call(to: nil, "/", link, "Introduce")
            var writer = MessageWriter(message)
            try writer.write(fitting.map(\.said))
            message.setSerial(1)
            #expect(try message.marshal().count <= LinkRules.maximumMessage)
            #expect(try fitting.map { try Introduction($0.said) } == fitting)
        }
    }

    @Test("counts as the latest list of each peer, and goes with it")
    func book() throws {
        var book = IntroductionBook()
        let (lap, desk) = (try device(8), try device(9))
        let (one, two) = (try introduction(1, "one"), try introduction(2, "two"))
        let other = try introduction(1, "another")
        #expect(book.introduce([one, two], by: lap) == [one.device, two.device])
        #expect(book.introduce([one, two], by: lap) == [])
        #expect(book.introduce([other], by: desk) == [one.device])
        #expect(book.introductions(of: one.device, by: [desk, lap]).map(\.said) == [other, one])
        #expect(book.introductions(of: one.device, by: [lap]).map(\.said) == [one])
        #expect(book.introduce([one], by: lap) == [two.device])
        #expect(book.retract([two.device], by: lap) == [two.device])
        #expect(book.retractors(of: two.device, among: [desk, lap]) == [lap])
        #expect(book.devices == [one.device, two.device])
        #expect(book.forget(lap) == [one.device, two.device])
        #expect(book.forget(desk) == [one.device])
        #expect(book == IntroductionBook())
    }

    @Test("peers are introduced by the one that both have, and are linked once both users have said yes")
    func three() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            let c = try await TestDevice.start()
            try await c.proxy.setDeviceName("Desk")
            try await a.pair(with: b)
            try await a.pair(with: c)
            let (seen, back) = (try b.device(c), try c.device(b))
            try await eventually { b.bridge.introductions.shown(c.id).state == .offered }
            try await eventually { c.bridge.introductions.shown(b.id).state == .offered }
            #expect(try await seen.name() == "Desk")
            #expect(try await seen.introducedBy() == [a.id.description])
            #expect(try await !seen.paired())
            try await seen.declineIntroduction()
            #expect(try await seen.introductionState() == "declined")
            try await seen.acceptIntroduction()
            #expect(try await seen.introductionState() == "accepted")
            #expect(try await seen.paired())
            // Nobody has come nearer by what one side says.
            #expect(b.link(with: c) == nil && c.bridge.state.trust[b.id] == nil)
            try await back.acceptIntroduction()
            _ = try await b.proxy.connect(address: c.address)
            try await eventually { b.link(with: c) != nil && c.link(with: b) != nil }
            #expect(try await seen.introductionState() == "none")
            #expect(try await seen.introducedBy() == [])
        }
    }

    @Test(
        "a device that was unpaired is retracted, not introduced again, and kept or unpaired by the user alone"
    )
    func retracted() async throws {
        try await onLoop {
            let (a, b) = (try await TestDevice.start(), try await TestDevice.start())
            let c = try await TestDevice.start()
            try await a.pair(with: b)
            try await a.pair(with: c)
            try await b.pair(with: c)
            try await a.device(c).unpair()
            try await eventually { b.bridge.introductions.shown(c.id).retractors == [a.id] }
            #expect(try await b.device(c).retractedBy() == [a.id.description])
            #expect(b.link(with: c) != nil)
            // What its former peer still has is no prompt for a; and c's user was not the one.
            try await eventually { a.bridge.introductions.shown(c.id).state == .declined }
            #expect(try await c.device(b).retractedBy() == [])
            try await b.device(c).keepPairing()
            #expect(try await b.device(c).retractedBy() == [])
            try await b.device(c).keepPairing()
            await #expect(throws: DBusError.self) { try await a.device(c).keepPairing() }
        }
    }

    @Test("who says it too often, wrongly or without being a peer is refused, and changes nothing")
    func hostile() async throws {
        try await onLoop {
            let device = try await TestDevice.start()
            let raw = try RawDevice()
            device.bridge.discoverability.set(true)
            try await raw.link(to: device)
            let thief = try introduction(1, "thief")
            let said = thief.said
            @MainLoop func introduce(_ list: [Introduction.Said]) async throws -> String? {
                let answer = try await raw.call(link, "Introduce") { (writer) throws(DBusError) in
                    try writer.write(list)
                }
                return answer?.error?.name.text
            }
            #expect(try await introduce([said]) == "org.freedesktop.DBus.Error.AccessDenied")
            _ = try await device.proxy.trust(deviceId: raw.id.description, name: "Lap")
            try await eventually { device.bridge.peers[raw.id]?.link != nil }
            let own = try Introduction(
                Introduction.Said(device.id.bytes, "me", "", []))
            #expect(try await introduce([said, own.said]) == nil)
            #expect(
                try await introduce(Array(repeating: said, count: 62))
                    == "org.freedesktop.DBus.Error.InvalidArgs")
            #expect(try await introduce([]) == "org.freedesktop.DBus.Error.LimitsExceeded")
            #expect(device.bridge.introductions.shown(device.id).introducers == [])
            #expect(device.bridge.introductions.shown(thief.device).name == "thief")
            raw.close()
            try await eventually { device.bridge.introductions.shown(thief.device).state == .none }
        }
    }
}
