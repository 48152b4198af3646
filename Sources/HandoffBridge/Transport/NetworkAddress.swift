// SPDX-License-Identifier: LGPL-2.1-or-later

/// Where a device may be found: `HOST:PORT` or `[V6]:PORT`.
struct NetworkAddress: Hashable, Sendable, LosslessStringConvertible {
    /// A name, or an IPv4 or IPv6 address; the latter may have a zone.
    let host: String
    let port: UInt16

    /// The longest name that DNS knows.
    static let maximumHostLength = 253

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// The address written as `description`; nil if it is of another form, or the port is 0.
    init?(_ description: String) {
        self.init(description, allowsAnyPort: false)
    }

    /// The address written as `description`; nil if it is of another form. The port may be 0 only where that
    /// stands for any port.
    init?(_ description: String, allowsAnyPort: Bool) {
        guard let colon = description.lastIndex(of: ":") else { return nil }
        let digits = description[description.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(digits), port > 0 || allowsAnyPort
        else { return nil }
        var host = description[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard isBracketed == host.contains(":"), !host.isEmpty, host.utf8.count <= Self.maximumHostLength,
            host.utf8.allSatisfy(isBracketed ? Self.isPartOfV6 : Self.isPartOfName)
        else { return nil }
        self.init(host: String(host), port: port)
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Letters, digits, and what else occurs in names: labels in other alphabets are given in their ASCII
    /// form.
    private static func isPartOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// What occurs in names, colons, and the sign before the zone.
    private static func isPartOfV6(_ byte: UInt8) -> Bool {
        isPartOfName(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "%")
    }
}
