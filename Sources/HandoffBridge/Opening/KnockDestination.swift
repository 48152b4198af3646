// SPDX-License-Identifier: LGPL-2.1-or-later

/// Where a dialler means to arrive, as far as its knock says so (protocol.md, "Opening"): a knock for an
/// address that somebody has announced opens no door at any other address, so that nobody can pass it on.
struct KnockDestination: Hashable, Sendable {
    /// 16 bytes of address, IPv4 as an IPv6 address that maps it (RFC 4291, section 2.5.5.2), and two of port.
    let bytes: [UInt8]

    /// The destination for an address that was given by hand, since routers on the way may change it.
    static let unnamed = KnockDestination(bytes: [UInt8](repeating: 0, count: 18))

    private static let mappingPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The IP address of these bytes, 4 or 16 in network byte order, and the port; nil for another number of bytes.
    init?(address: [UInt8], port: UInt16) {
        guard address.count == 4 || address.count == 16 else { return nil }
        let mapped = address.count == 4 ? Self.mappingPrefix + address : address
        bytes = mapped + [UInt8(port >> 8), UInt8(port & 0xFF)]
    }

    /// The destination for an address; nil if its host is a name. The zone does not count: it means something
    /// on one machine only.
    init?(_ address: NetworkAddress) {
        let host = address.host.prefix { $0 != "%" }
        guard let bytes = NetworkInterface.bytes(of: String(host)) else { return nil }
        self.init(address: bytes, port: address.port)
    }
}
