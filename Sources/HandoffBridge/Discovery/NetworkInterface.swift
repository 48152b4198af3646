// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// An interface of this machine to a network on which others can be found, in its present state.
struct NetworkInterface: Hashable, Sendable {
    /// An address of the machine on that network.
    struct Address: Hashable, Sendable {
        /// The 4 or 16 bytes of the address in network byte order.
        let bytes: [UInt8]
        /// The mask, of as many bytes: the bits that are the same for the whole network are 1.
        let mask: [UInt8]

        var isLinkLocal: Bool { bytes.count == 16 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 }

        /// Whether somebody with the address `other` can be reached without a router.
        func isOnLink(_ other: [UInt8]) -> Bool {
            guard other.count == bytes.count, mask.contains(where: { $0 != 0 }) else { return false }
            return zip(zip(bytes, other), mask).allSatisfy { pair, mask in (pair.0 ^ pair.1) & mask == 0 }
        }
    }

    /// The number that the kernel has given the interface.
    let index: Int32
    let name: String
    let addresses: [Address]

    /// The interfaces that are up and reach many others.
    static func all() -> [NetworkInterface] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        let wanted = UInt32(IFF_UP | IFF_RUNNING | IFF_MULTICAST)
        let unwanted = UInt32(IFF_LOOPBACK | IFF_POINTOPOINT)
        var found: [String: [Address]] = [:]
        for entry in entries(first) {
            guard entry.ifa_flags & wanted == wanted, entry.ifa_flags & unwanted == 0,
                let name = entry.ifa_name, let bytes = bytes(entry.ifa_addr),
                let mask = Self.bytes(entry.ifa_netmask), mask.count == bytes.count
            else { continue }
            found[String(cString: name), default: []].append(Address(bytes: bytes, mask: mask))
        }
        return found.map {
            NetworkInterface(index: Int32(if_nametoindex($0.key)), name: $0.key, addresses: $0.value)
        }.filter { $0.index > 0 }.sorted { $0.index < $1.index }
    }

    /// Whether somebody at `host`, an IP address with its zone if it has one, is on this machine or on a network that this
    /// machine is on.
    static func isNear(_ host: String) -> Bool {
        let address = NetworkAddress(host: host, port: 1)
        if all().contains(where: { $0.isOnLink(address) }) { return true }
        guard let bytes = bytes(of: String(host.prefix { $0 != "%" })) else { return false }
        return ownAddresses()?.contains(bytes) == true
    }

    /// All addresses of this machine, on interfaces that are up; nil if the system does not say at the
    /// moment.
    static func ownAddresses() -> Set<[UInt8]>? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        return Set(
            entries(first).compactMap { $0.ifa_flags & UInt32(IFF_UP) == 0 ? nil : bytes($0.ifa_addr) })
    }

    /// An address of an interface that is up.
    struct UpAddress: Hashable, Sendable {
        /// The name of the interface.
        let interface: String
        /// Whether it is a tunnel: it leads to one other machine, or has no link layer, as WireGuard's has none.
        let isTunnel: Bool
        /// The 4 or 16 bytes of the address in network byte order.
        let bytes: [UInt8]
    }

    /// All addresses of interfaces that are up, but for the loopback's.
    static func upAddresses() -> [UpAddress] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        let all = entries(first).filter {
            $0.ifa_flags & UInt32(IFF_UP) != 0 && $0.ifa_flags & UInt32(IFF_LOOPBACK) == 0
                && $0.ifa_name != nil
        }
        let bare = Set(all.filter { hasNoLinkLayer($0.ifa_addr) }.map { String(cString: $0.ifa_name) })
        return all.compactMap { entry in
            guard let bytes = bytes(entry.ifa_addr) else { return nil }
            let name = String(cString: entry.ifa_name)
            return UpAddress(
                interface: name,
                isTunnel: entry.ifa_flags & UInt32(IFF_POINTOPOINT) != 0 || bare.contains(name), bytes: bytes)
        }
    }

    private static func hasNoLinkLayer(_ raw: UnsafeMutablePointer<sockaddr>?) -> Bool {
        guard let raw, Int32(raw.pointee.sa_family) == AF_PACKET else { return false }
        return raw.withMemoryRebound(to: sockaddr_ll.self, capacity: 1) {
            $0.pointee.sll_hatype == UInt16(ARPHRD_NONE)
        }
    }

    private static func entries(_ first: UnsafeMutablePointer<ifaddrs>?) -> [ifaddrs] {
        sequence(first: first) { $0?.pointee.ifa_next }.prefix { $0 != nil }.compactMap { $0?.pointee }
    }

    /// The bytes of an IP address; nil for one of another family.
    static func bytes(_ raw: UnsafeMutablePointer<sockaddr>?) -> [UInt8]? {
        guard let raw else { return nil }
        switch Int32(raw.pointee.sa_family) {
        case AF_INET:
            return raw.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6:
            return raw.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) }
            }
        default: return nil
        }
    }

    /// The bytes of an address written as text; nil if the text is not an address.
    static func bytes(of text: String) -> [UInt8]? {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
        if inet_pton(AF_INET6, text, &six) == 1 { return withUnsafeBytes(of: six) { Array($0) } }
        return nil
    }

    /// The addresses of this machine that are announced here, as text: they suffice for whoever is on the
    /// same network, and do not reveal the machine's addresses elsewhere.
    var announcedAddresses: [String] {
        let links = addresses.filter(\.isLinkLocal)
        let fours = addresses.filter { $0.bytes.count == 4 }
        return (fours + (links.isEmpty ? addresses.filter { $0.bytes.count == 16 } : links)).compactMap {
            Self.text($0.bytes)
        }
    }

    /// The address of `bytes` as text.
    static func text(_ bytes: [UInt8]) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard bytes.count == 4 || bytes.count == 16,
            inet_ntop(family, bytes, &buffer, socklen_t(buffer.count)) != nil
        else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether `address`, which ``reachable(_:port:)`` has given, is on this network.
    func isOnLink(_ address: NetworkAddress) -> Bool {
        let parts = address.host.split(separator: "%", maxSplits: 1)
        guard let host = parts.first else { return false }
        return (parts.count == 1 || parts[1] == name) && reachable(String(host), port: address.port) != nil
    }

    /// Where to connect to somebody who claims to be at `address` of this network; nil unless the address is
    /// on it.
    func reachable(_ address: String, port: UInt16) -> NetworkAddress? {
        guard port > 0, let bytes = Self.bytes(of: address), addresses.contains(where: { $0.isOnLink(bytes) })
        else { return nil }
        let isLinkLocal = Address(bytes: bytes, mask: bytes).isLinkLocal
        return NetworkAddress(host: isLinkLocal ? "\(address)%\(name)" : address, port: port)
    }
}
