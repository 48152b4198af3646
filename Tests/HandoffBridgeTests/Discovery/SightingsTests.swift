// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@testable import HandoffBridge

private func service(_ name: String, interface: Int32 = 2, family: Int32 = 0) -> Sightings.Service {
    Sightings.Service(interface: interface, family: family, name: name)
}

private func found(
    _ host: String, _ instance: UInt8 = 1, name: String = "", device: DeviceID? = nil
) -> Sightings.Found {
    Sightings.Found(
        address: NetworkAddress(host: host, port: 4711), instance: [instance],
        announcement: Announcement(tags: [], name: name), device: device)
}

@Suite("Announcements that can be seen")
struct SightingsTests {
    @Test("a peer is where its announcements say, as long as they are there")
    func peer() throws {
        var sightings = Sightings()
        sightings.appeared(service("a"))
        sightings.appeared(service("a"))
        sightings.appeared(service("a", family: 1))
        #expect(sightings.next() == service("a"))
        #expect(sightings.next() == service("a", family: 1))
        #expect(sightings.next() == nil)
        _ = sightings.lookedUp(service("a"), .found(found("10.0.0.2", device: try device(1))))
        _ = sightings.lookedUp(service("a", family: 1), .found(found("fe80::1%eth0", device: try device(1))))
        #expect(sightings.addresses(of: try device(1)).map(\.host) == ["10.0.0.2", "fe80::1%eth0"])
        #expect(sightings.contains(NetworkAddress(host: "10.0.0.2", port: 4711)))
        #expect(sightings.strangers.isEmpty)
        _ = sightings.vanished(service("a"))
        #expect(sightings.addresses(of: try device(1)).map(\.host) == ["fe80::1%eth0"])
    }

    @Test("what nobody tells of is looked up a few times more, and again when there is reason to")
    func unanswered() throws {
        var sightings = Sightings()
        sightings.appeared(service("a"))
        for number in 1...Sightings.maximumFailures {
            #expect(sightings.next() == service("a"))
            _ = sightings.lookedUp(service("a"), .unanswered)
            #expect(sightings.hasUnanswered == (number < Sightings.maximumFailures))
            sightings.retryUnanswered()
        }
        #expect(sightings.next() == nil)
        sightings.refresh([])
        #expect(sightings.next() == service("a"))
    }

    @Test("what was found counts while it is looked up again, and until it goes")
    func again() {
        var sightings = Sightings()
        sightings.appeared(service("a"))
        _ = sightings.next()
        let isNews = sightings.lookedUp(service("a"), .found(found("10.0.0.2", name: "desk")))
        #expect(isNews)
        sightings.refresh([])
        #expect(sightings.strangers.count == 1)
        _ = sightings.next()
        let isOther = sightings.lookedUp(service("a"), .unanswered)
        #expect(!isOther)
        #expect(sightings.strangers.count == 1)
        let (first, second) = (sightings.vanished(service("a")), sightings.vanished(service("a")))
        #expect(first && !second && sightings.strangers.isEmpty)
    }

    @Test("what went while it was looked up is not there")
    func gone() throws {
        var sightings = Sightings()
        sightings.appeared(service("a"))
        _ = sightings.next()
        _ = sightings.vanished(service("a"))
        _ = sightings.lookedUp(service("a"), .found(found("10.0.0.2", device: try device(1))))
        #expect(sightings.addresses(of: try device(1)).isEmpty)
    }

    @Test("strangers with a name are shown once, with all addresses, and those without are not")
    func strangers() {
        var sightings = Sightings()
        for (name, family) in [("a", Int32(0)), ("a", 1), ("b", 0)] {
            sightings.appeared(service(name, family: family))
            _ = sightings.next()
        }
        _ = sightings.lookedUp(service("a"), .found(found("10.0.0.2", name: "desk")))
        _ = sightings.lookedUp(service("a", family: 1), .found(found("fe80::1%eth0", name: "desk")))
        _ = sightings.lookedUp(service("b"), .found(found("10.0.0.3", 2)))
        let addresses = ["10.0.0.2", "fe80::1%eth0"].map { NetworkAddress(host: $0, port: 4711) }
        #expect(sightings.strangers == [Sightings.Stranger(name: "desk", addresses: addresses)])
    }

    @Test("when peers have changed, what was no peer's is looked up once more")
    func secrets() throws {
        var sightings = Sightings()
        for name in ["a", "b", "c"] {
            sightings.appeared(service(name))
            _ = sightings.next()
        }
        _ = sightings.lookedUp(service("a"), .found(found("10.0.0.2", 1, device: try device(1))))
        _ = sightings.lookedUp(service("b"), .found(found("10.0.0.3", 2, device: try device(2))))
        _ = sightings.lookedUp(service("c"), .useless)
        sightings.refresh([try device(1)])
        #expect(Set([sightings.next(), sightings.next()]) == [service("b"), service("c")])
        #expect(sightings.next() == nil)
        #expect(try sightings.addresses(of: device(1)).count == 1)
    }

    @Test("what Avahi knew counts after its end until it has told anew what is there")
    func restart() throws {
        var sightings = Sightings()
        for (number, name) in ["a", "b"].enumerated() {
            sightings.appeared(service(name))
            _ = sightings.next()
            _ = sightings.lookedUp(
                service(name),
                .found(found("10.0.0.\(number)", UInt8(number), device: try device(UInt8(number)))))
        }
        sightings.avahiVanished()
        #expect(try sightings.addresses(of: device(0)).count == 1)
        sightings.appeared(service("b"))
        sightings.avahiCompleted()
        #expect(try sightings.addresses(of: device(0)).isEmpty)
        #expect(try sightings.addresses(of: device(1)).count == 1)
    }

    @Test("however many there are, few are kept and fewer looked up, and a peer that is known stays")
    func flood() throws {
        var sightings = Sightings()
        sightings.appeared(service("peer"))
        _ = sightings.next()
        _ = sightings.lookedUp(service("peer"), .found(found("10.0.0.2", device: try device(1))))
        var underWay = 0
        for number in 0..<5000 {
            sightings.appeared(service("flood \(number)"))
            if sightings.next() != nil { underWay += 1 }
        }
        #expect(underWay == Sightings.maximumLookups)
        #expect(sightings.count <= Sightings.maximum && sightings.waitingCount <= 2 * Sightings.maximum)
        #expect(try sightings.addresses(of: device(1)).count == 1)
    }

    @Test("no order of events lets more be looked up, kept or shown than there may be", arguments: 0..<20)
    func randomEvents(_ seed: Int) throws {
        var sightings = Sightings()
        var underWay: [Sightings.Service] = []
        for _ in 0..<3000 {
            let service = service("\(Int.random(in: 0..<700))", family: Int32.random(in: 0...1))
            switch Int.random(in: 0..<20) {
            case 0..<9: sightings.appeared(service)
            case 9..<13: if let next = sightings.next() { underWay.append(next) }
            case 13..<16:
                guard !underWay.isEmpty else { continue }
                let done = underWay.remove(at: Int.random(in: 0..<underWay.count))
                let result = found("10.0.0.\(Int.random(in: 0..<9))", .random(in: 0...99), name: "x")
                _ = sightings.lookedUp(done, [.found(result), .useless, .unanswered][Int.random(in: 0...2)])
            case 16..<18: _ = sightings.vanished(service)
            case 18: Bool.random() ? sightings.avahiVanished() : sightings.avahiCompleted()
            default: sightings.refresh([])
            }
            #expect(underWay.count <= Sightings.maximumLookups && sightings.count <= Sightings.maximum)
            #expect(sightings.waitingCount <= 2 * Sightings.maximum)
        }
        #expect(sightings.strangers.count <= Sightings.maximumStrangers)
    }
}

@Suite("Network interfaces")
struct NetworkInterfaceTests {
    private let interface = NetworkInterface(
        index: 7, name: "eth0",
        addresses: [
            .init(bytes: [10, 1, 2, 3], mask: [255, 255, 255, 0]),
            .init(
                bytes: [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1],
                mask: [UInt8](repeating: 255, count: 8) + [UInt8](repeating: 0, count: 8)),
            .init(
                bytes: [0x20, 0x01] + [UInt8](repeating: 0, count: 13) + [1],
                mask: [UInt8](repeating: 255, count: 8) + [UInt8](repeating: 0, count: 8)),
        ])

    @Test(
        "who says to be on the same network is reached there, link-local addresses by the interface",
        arguments: [
            ("10.1.2.250", "10.1.2.250"), ("10.1.3.4", nil), ("8.8.8.8", nil), ("fe80::2", "fe80::2%eth0"),
            ("2001::2", "2001::2"), ("2002::2", nil), ("example.com", nil), ("", nil), ("10.1.2", nil),
            ("::ffff:10.1.2.4", nil),
        ] as [(String, String?)])
    func reachable(_ address: String, _ host: String?) {
        #expect(interface.reachable(address, port: 1)?.host == host)
        #expect(interface.reachable(address, port: 0) == nil)
    }

    @Test("only addresses for the same network are announced")
    func announced() { #expect(interface.announcedAddresses == ["10.1.2.3", "fe80::1"]) }

    @Test("nobody is on the network of an address that has none")
    func noMask() {
        let address = NetworkInterface.Address(bytes: [10, 1, 2, 3], mask: [0, 0, 0, 0])
        #expect(!address.isOnLink([8, 8, 8, 8]))
    }
}
