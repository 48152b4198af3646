// SPDX-License-Identifier: LGPL-2.1-or-later

/// Ports of one protocol, as firewalld writes them.
struct PortRange: Hashable, Sendable {
    /// `tcp` or `udp`.
    let transport: String
    /// The ports.
    let ports: ClosedRange<UInt16>

    /// The ports `ports` of `transport`.
    init(_ ports: ClosedRange<UInt16>, _ transport: String) {
        (self.ports, self.transport) = (ports, transport)
    }

    /// `PORT` or `FIRST-LAST`; nil if it is neither.
    init?(_ text: String, _ transport: String) {
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map {
            UInt16($0)
        }
        guard let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last else { return nil }
        self.init(first...last, transport)
    }

    /// As firewalld and people write it, for example `45700-45799/tcp`.
    var text: String {
        let last = ports.count == 1 ? "" : "-\(ports.upperBound)"
        return "\(ports.lowerBound)\(last)/\(transport)"
    }

    /// Where multicast DNS is, by which devices find each other.
    static let multicastDNS = PortRange(5353...5353, "udp")

    /// Whether each of these ports is one of `others`.
    func isCovered(by others: some Sequence<PortRange>) -> Bool {
        var next = UInt32(ports.lowerBound)
        let mine = others.filter { $0.transport == transport }.map(\.ports)
        for range in mine.sorted(by: { $0.lowerBound < $1.lowerBound })
        where range.lowerBound <= next && range.upperBound >= next {
            next = UInt32(range.upperBound) + 1
        }
        return next > ports.upperBound
    }
}
