// SPDX-License-Identifier: LGPL-2.1-or-later

/// The name of a public web host, in lower case and ASCII form, as DNS knows it (RFC 1123).
///
/// Names that mean something on this machine or in this network alone, or nowhere, are none, nor are IP addresses, nor is
/// anything with a port: `localhost`, single labels, names below `.local`, `.internal`, `.test` and their like, and what
/// ends in a dot.
package struct WebHost: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name.
    package let description: String

    /// The host that is written as `text`; nil if it is not the name of a public host in this very form.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        description = String(text)
        let labels = description.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count >= 2, labels.allSatisfy(Self.isLabel), let last = labels.last,
            // A last label of digits is that of an IPv4 address, in one of its forms.
            last.contains(where: { !Self.isDigit($0) }), !last.starts(with: "0x".utf8),
            !Self.local.contains(String(decoding: last, as: UTF8.self))
        else { return nil }
    }

    /// How many bytes a name may have.
    private static let maximumLength = 253
    /// What names end in that are not, or not everywhere, names of the public DNS: RFC 6761, 6762 with its appendix G, 7686,
    /// 8375 and 9476, and `internal`, which ICANN has reserved. Below `arpa` there is nothing but infrastructure.
    private static let local: Set = [
        "localhost", "test", "invalid", "example", "local", "intranet", "internal", "private", "corp", "home",
        "lan",
        "onion", "arpa", "alt",
    ]

    /// Whether `lhs` comes first, by the bytes of the names.
    package static func < (lhs: WebHost, rhs: WebHost) -> Bool { lhs.description < rhs.description }

    /// 1 to 63 letters, digits and hyphens, without a hyphen at either end.
    private static func isLabel(_ label: some Collection<UInt8>) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return 1...63 ~= label.count && label.first != hyphen && Array(label).last != hyphen
            && label.allSatisfy { $0 == hyphen || isDigit($0) || (0x61...0x7A).contains($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Whether this host is below `other`, at whatever depth.
    package func isBelow(_ other: WebHost) -> Bool { description.hasSuffix("." + other.description) }
}
