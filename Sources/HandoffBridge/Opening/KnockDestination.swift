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

    /// A place that a peer has said (protocol.md, "Places"); nil unless these bytes are an address and port to which one can
    /// connect from another network.
    init?(said bytes: [UInt8]) {
        guard bytes.count == 18, bytes[16] != 0 || bytes[17] != 0 else { return nil }
        self.bytes = bytes
        guard isReachable else { return nil }
    }

    /// Whether an address is none of those that mean nothing elsewhere, or nobody or many: unspecified, loopback, link-local
    /// (RFC 3927; RFC 4291, section 2.5.6), multicast, broadcast.
    private var isReachable: Bool {
        let host = host
        if host.count == 4 {
            return host[0] != 0 && host[0] != 127 && host[0] < 224 && !(host[0] == 169 && host[1] == 254)
        }
        let isLow = host.dropLast().allSatisfy { $0 == 0 } && host[15] <= 1
        return !isLow && host[0] != 0xFF && !(host[0] == 0xFE && host[1] & 0xC0 == 0x80)
    }

    /// The bytes of the IP address, 4 or 16.
    var host: [UInt8] { Array(bytes.starts(with: Self.mappingPrefix) ? bytes[12..<16] : bytes[0..<16]) }

    /// The address to connect to; nil for one that is unnamed.
    var address: NetworkAddress? {
        guard self != .unnamed, let text = NetworkInterface.text(host) else { return nil }
        return NetworkAddress(host: text, port: UInt16(bytes[16]) << 8 | UInt16(bytes[17]))
    }

    /// The destination for an address; nil if its host is a name. The zone does not count: it means something
    /// on one machine only.
    init?(_ address: NetworkAddress) {
        let host = address.host.prefix { $0 != "%" }
        guard let bytes = NetworkInterface.bytes(of: String(host)) else { return nil }
        self.init(address: bytes, port: address.port)
    }
}
