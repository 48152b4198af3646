// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// The addresses of this machine at which it can be reached from other networks (protocol.md, "Places").
enum PlaceAddresses {
    /// How the names of interfaces begin that lead to containers and virtual machines on this machine.
    private static let ofContainers = [
        "br-", "cali", "cni", "docker", "flannel", "incusbr", "lxc", "lxdbr", "podman", "vboxnet", "veth",
        "virbr",
        "vmnet", "vnet",
    ]

    /// The addresses that it has now, each of 4 or 16 bytes, and whether the kernel still finds out if one may be used.
    static func now() -> (addresses: [[UInt8]], areSettling: Bool) {
        let up = NetworkInterface.upAddresses()
        let text: String
        do {
            // The kernel keeps no table without IPv6.
            let table = try SmallFile.read("/proc/net/if_inet6", maximumSize: 1 << 20)
            text = String(decoding: table ?? [], as: UTF8.self)
        } catch {
            bridgeLog.warning("Peers are told no address of IPv6: which of them last is not known. \(error)")
            return (choose(from: up.filter { $0.bytes.count == 4 }, fading: []), false)
        }
        let tentative = Self.addresses(in: text, with: Flag.tentative)
        let fading = tentative.union(Self.addresses(in: text, with: Flag.temporary | Flag.deprecated))
        return (choose(from: up, fading: fading), tentative.contains(where: isGlobal))
    }

    /// Those of `up` that are told to peers: of tunnels first, then what the Internet reaches; at most
    /// ``LinkHello/maximumPlaces``, and none of `fading`.
    static func choose(from up: [NetworkInterface.UpAddress], fading: Set<[UInt8]>) -> [[UInt8]] {
        let fit = up.filter { address in
            !fading.contains(address.bytes)
                && !ofContainers.contains { address.interface.hasPrefix($0) }
                && KnockDestination(address: address.bytes, port: 1).flatMap {
                    KnockDestination(said: $0.bytes)
                } != nil
        }
        let tunnels = fit.filter(\.isTunnel).map(\.bytes)
        let global = fit.filter { !$0.isTunnel && isGlobal($0.bytes) }.map(\.bytes)
        var chosen: [[UInt8]] = []
        for bytes in tunnels.sorted(by: isBefore) + global.sorted(by: isBefore) where !chosen.contains(bytes)
        {
            chosen.append(bytes)
        }
        return Array(chosen.prefix(LinkHello.maximumPlaces))
    }

    private static func isBefore(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.lexicographicallyPrecedes(other)
    }

    /// Whether it is a global unicast address of IPv6 (RFC 4291, section 2.4: 2000::/3 is what is given out).
    private static func isGlobal(_ bytes: [UInt8]) -> Bool { bytes.count == 16 && bytes[0] & 0xE0 == 0x20 }

    /// What the kernel says of an address (IFA_F_… of linux/if_addr.h). By the time that a peer needs one that is temporary or
    /// deprecated it is another's or nobody's.
    enum Flag {
        static let temporary: UInt8 = 0x01
        static let deprecated: UInt8 = 0x20
        static let tentative: UInt8 = 0x40
    }

    /// The addresses in `table`, the kernel's if_inet6, that have one of `wanted`.
    static func addresses(in table: String, with wanted: UInt8) -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        for line in table.split(separator: "\n") {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count >= 5, let flags = UInt8(fields[4], radix: 16), flags & wanted != 0,
                fields[0].utf8.count == 32
            else { continue }
            // The digits are there without the colons.
            let digits = Array(fields[0])
            let groups = stride(from: 0, to: 32, by: 4).map { String(digits[$0..<min($0 + 4, digits.count)]) }
            if let bytes = NetworkInterface.bytes(of: groups.joined(separator: ":")) { found.insert(bytes) }
        }
        return found
    }
}
