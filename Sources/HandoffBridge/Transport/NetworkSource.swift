// SPDX-License-Identifier: LGPL-2.1-or-later

/// Where connections come from, as far as they are counted together (protocol.md, "Limits").
enum NetworkSource {
    /// The source of connections from the IP address `host`. For an IPv4 address, or one on a network that
    /// this machine is on, that is the address itself, in the latter case with its zone; for any other, it is
    /// the first 64 bits, since whoever has one address with those has them all.
    static func name(
        of host: String, interfaces: @autoclosure () -> [NetworkInterface] = NetworkInterface.all()
    ) -> String {
        guard let bytes = NetworkInterface.bytes(of: String(host.prefix { $0 != "%" })), bytes.count == 16
        else { return host }
        let address = NetworkInterface.Address(bytes: bytes, mask: bytes)
        if address.isLinkLocal
            || interfaces().contains(where: { $0.addresses.contains { $0.isOnLink(bytes) } })
        {
            return host
        }
        let network = Array(bytes.prefix(8)) + [UInt8](repeating: 0, count: 8)
        return NetworkInterface.text(network).map { "\($0)/64" } ?? host
    }
}
