// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

@Suite("Places")
struct PlacesTests {
    /// The bytes of a place.
    private static func place(_ host: String, _ port: UInt16 = 45_700) throws -> [UInt8] {
        try #require(NetworkInterface.bytes(of: host).flatMap { KnockDestination(address: $0, port: port) })
            .bytes
    }

    private func up(_ interface: String, _ host: String, isTunnel: Bool = false) throws
        -> NetworkInterface.UpAddress
    {
        .init(interface: interface, isTunnel: isTunnel, bytes: try #require(NetworkInterface.bytes(of: host)))
    }

    @Test(
        "of this machine's addresses those of tunnels and global ones of IPv6 are places, at most eight, tunnels first"
    )
    func chosen() throws {
        let fading = try #require(NetworkInterface.bytes(of: "2001:db8::77"))
        let up = [
            try up("eth0", "192.168.1.4"), try up("eth0", "2001:db8::4"), try up("eth0", "2001:db8::77"),
            try up("eth0", "fe80::4"), try up("eth0", "fd00::4"), try up("wlan0", "10.0.0.4"),
            try up("wg0", "10.8.0.2", isTunnel: true), try up("wg0", "fd00:8::2", isTunnel: true),
            try up("wg0", "fe80::2", isTunnel: true), try up("docker0", "2001:db8:d::1"),
            try up("veth12", "172.17.0.1", isTunnel: true), try up("virbr0", "2001:db8:e::1"),
        ]
        let found = PlaceAddresses.choose(from: up, fading: [fading]).compactMap { NetworkInterface.text($0) }
        #expect(found == ["10.8.0.2", "fd00:8::2", "2001:db8::4"])
        let many = try (1...9).map { try self.up("wg\($0)", "10.8.0.\($0)", isTunnel: true) }
        #expect(PlaceAddresses.choose(from: many, fading: []).count == 8)
    }

    @Test("what the kernel says of addresses of IPv6 is understood, and what it does not say is nothing")
    func table() throws {
        let table = """
            20010db8000000000000000000000004 02 40 00 80     eth0
            20010db8000000000000000000000077 02 40 00 01     eth0
            20010db8000000000000000000000078 02 40 00 60     eth0
            fe800000000000000000000000000004 02 40 20 c0     eth0
            20010db8 02 40 00 01 eth0
            20010db80000000000000000000000zz 02 40 00 01 eth0
            """
        func texts(_ flags: UInt8) -> Set<String> {
            Set(PlaceAddresses.addresses(in: table, with: flags).compactMap { NetworkInterface.text($0) })
        }
        #expect(texts(PlaceAddresses.Flag.temporary) == ["2001:db8::77"])
        #expect(texts(PlaceAddresses.Flag.deprecated) == ["2001:db8::78"])
        #expect(texts(PlaceAddresses.Flag.tentative) == ["2001:db8::78", "fe80::4"])
    }

    @Test("the port at places is one that a firewall can name, the same for a device each time")
    func port() throws {
        let ports = try (UInt8(0)..<100).map { OwnPlaces.port(of: try device($0)) }
        #expect(ports.allSatisfy { Listener.ports.contains($0) })
        #expect(ports == (try (UInt8(0)..<100).map { OwnPlaces.port(of: try device($0)) }))
        #expect(Set(ports).count > 20)
    }

    // MARK: What peers say

    private func hello(_ places: Value) throws -> LinkHello {
        try LinkHello(["Paired": .boolean(true), "Places": places])
    }

    @Test("what is said of places is read as it is written, and nothing said differs from none")
    func said() throws {
        let places = try ["10.8.0.2", "192.168.1.4", "fd00::1", "2001:db8::1"].map { try Self.place($0) }
        let said = LinkHello(isPaired: true, places: places.compactMap { KnockDestination(said: $0) })
        #expect(try LinkHello(said.about) == said)
        #expect(
            said.places?.compactMap(\.address?.description)
                == ["10.8.0.2:45700", "192.168.1.4:45700", "[fd00::1]:45700", "[2001:db8::1]:45700"])
        #expect(try hello(.byteArrays(places + places)).places == said.places)
        #expect(try LinkHello(["Paired": .boolean(true)]).places == nil)
        #expect(try hello(.byteArrays([])).places == [])
        #expect(try LinkHello(LinkHello(isPaired: true, places: []).about).places == [])
    }

    @Test(
        "a place that has another length or leads nowhere, and a ninth, are refused",
        arguments: [
            "0.0.0.0", "127.0.0.1", "127.9.9.9", "224.0.0.251", "255.255.255.255", "169.254.3.4", "::", "::1",
            "ff02::fb",
            "fe80::1",
        ])
    func refused(_ host: String) throws {
        let good = try Self.place("10.8.0.2")
        let wrong: [[[UInt8]]] = [
            [try Self.place(host)], [good, try Self.place(host)], [try Self.place("10.8.0.2", 0)], [[]],
            [Array(good.dropLast())], [good + [0]], Array(repeating: good, count: 9),
        ]
        for places in wrong {
            let error = #expect(throws: HandoffFailure.self) { try hello(.byteArrays(places)) }
            #expect(error?.code == .invalidArguments && error?.message.contains("Places") == true)
        }
        for value in [Value.bytes(good), .strings([]), .string("10.8.0.2")] {
            #expect(throws: HandoffFailure.self) { try hello(value) }
        }
    }

    // MARK: What is kept

    @Test("the latest list is kept for thirty days, and written down again once a day at most")
    func kept() throws {
        let day = TrustEntry.day
        let places = [try #require(KnockDestination(said: try Self.place("10.8.0.2")))]
        var entry = TrustEntry(try device(1), source: .pairing)
        entry.remember(places: places, at: 100 * day)
        #expect(entry.places(at: 129 * day).map(\.description) == ["10.8.0.2:45700"])
        #expect(entry.places(at: 131 * day).isEmpty && entry.places(at: 99 * day).isEmpty)
        entry.remember(places: places, at: 100 * day + 1)
        #expect(entry.placesSince == 100 * day)
        entry.remember(places: places, at: 102 * day)
        #expect(entry.placesSince == 102 * day)
        entry.remember(places: [], at: 103 * day)
        #expect(entry.places.isEmpty && entry.placesSince == 0)
    }
}
