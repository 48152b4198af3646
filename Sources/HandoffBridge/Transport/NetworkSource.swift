// SPDX-License-Identifier: LGPL-2.1-or-later

/// Where connections come from, as far as they are counted together (protocol.md, "Limits").
enum NetworkSource {
    /// The source of connections from the IP address `host`: itself if it is one of IPv4, or of a network that this machine
    /// is on, there with its zone; of any other the first 64 bits, since whoever has one of those has them all.
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
