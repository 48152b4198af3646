// SPDX-License-Identifier: LGPL-2.1-or-later
import Testing

@testable import HandoffBridge

@Suite("Where somebody has announced to be of late")
struct AnnouncedAddressesTests {
    private static func address(_ number: Int) -> NetworkAddress {
        NetworkAddress(host: "192.0.\(number / 256 % 256).\(number % 256)", port: UInt16(1 + number / 65536))
    }

    @Test("an address is remembered for ten minutes after it was announced last")
    func life() {
        var places = AnnouncedAddresses()
        places.note([Self.address(1)], at: 0)
        places.note([Self.address(2)], at: 5)
        places.note([Self.address(1)], at: 300_000_000)
        #expect(places.contains(Self.address(1), at: 899_999_999))
        #expect(!places.contains(Self.address(1), at: 900_000_000))
        #expect(!places.contains(Self.address(2), at: 600_000_005))
        #expect(!places.contains(Self.address(3), at: 0))
    }

    @Test("however many are announced, so many are remembered, and the latest of them")
    func bounded() {
        var places = AnnouncedAddresses()
        for number in 0..<3 * AnnouncedAddresses.maximum {
            places.note([Self.address(number)], at: Int64(number))
            #expect(places.count <= AnnouncedAddresses.maximum)
        }
        let last = 3 * AnnouncedAddresses.maximum - 1
        #expect(places.contains(Self.address(last), at: Int64(last)))
        #expect(places.contains(Self.address(last - 1000), at: Int64(last)))
        #expect(!places.contains(Self.address(0), at: Int64(last)))
    }
}
