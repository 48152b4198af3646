// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// By which interface this machine reaches others that are nowhere nearer, which is where its user's devices are.
enum DefaultRoute {
    private static let maximumSize = 1 << 20

    /// The name of the interface; nil if there is none. This may block.
    static func interface() -> String? {
        let four = text("/proc/net/route").flatMap { interface(fourText: $0) }
        return four ?? text("/proc/net/ipv6_route").flatMap { interface(sixText: $0) }
    }

    private static func text(_ path: String) -> String? {
        (try? SmallFile.read(path, maximumSize: maximumSize)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The interface of the default route with the least metric in `/proc/net/route` (proc(5)).
    static func interface(fourText text: String) -> String? {
        // Interface, destination, gateway, flags, references, use, metric in decimal, mask.
        let routes: [(metric: UInt32, interface: String)] = rows(text).compactMap { fields in
            guard fields.count >= 8, fields[1] == "00000000", fields[7] == "00000000",
                let metric = UInt32(fields[6])
            else { return nil }
            return (metric, String(fields[0]))
        }
        return routes.min { $0.metric < $1.metric }?.interface
    }

    /// The interface of the default route with the least metric in `/proc/net/ipv6_route`.
    static func interface(sixText text: String) -> String? {
        // Destination, its length, source, its length, gateway, metric in hexadecimal, references, use, flags, interface.
        let routes: [(metric: UInt32, interface: String)] = rows(text).compactMap { fields in
            guard fields.count >= 10, fields[1] == "00", fields[0].allSatisfy({ $0 == "0" }),
                fields[9] != "lo",
                let metric = UInt32(fields[5], radix: 16)
            else { return nil }
            return (metric, String(fields[9]))
        }
        return routes.min { $0.metric < $1.metric }?.interface
    }

    private static func rows(_ text: String) -> [[Substring]] {
        text.split(separator: "\n").map { $0.split { $0 == " " || $0 == "\t" } }
    }
}
