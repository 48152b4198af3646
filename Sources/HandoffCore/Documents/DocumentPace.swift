// SPDX-License-Identifier: LGPL-2.1-or-later

/// Whether a document moves fast enough to be worth waiting for. Without that, whoever lets a byte through now and then
/// would keep the other side busy for ever.
///
/// Time is cut into periods. In each of them ``minimum`` bytes have to move, or else all that was left when it began.
/// `advance(to:)` is to be called once ``periodEnd`` has come; if that is later, the period is as much longer.
package struct DocumentPace: Hashable, Sendable {
    /// How many bytes have to move in each ``period``: an eighth of what the slowest links bring that are still in use.
    package static let minimum: UInt64 = 64 << 10
    /// How long a period is.
    package static let period: Duration = .seconds(60)

    private let period: Duration
    /// How many bytes there are in all; nil if that is not known.
    private var size: UInt64?
    /// How many had moved when the period began.
    private var former: UInt64 = 0
    private var moved: UInt64 = 0

    /// When the present period ends.
    package private(set) var periodEnd: Instant

    /// Nothing has moved yet of a document of `size` bytes; nil if that is not known.
    package init(of size: UInt64? = nil, at now: Instant, period: Duration = Self.period) {
        self.size = size
        self.period = period
        periodEnd = now.advanced(by: period)
    }

    /// By now, `count` bytes have moved of a document of `size` bytes.
    package mutating func moved(_ count: UInt64, of size: UInt64?) {
        moved = max(moved, count)
        self.size = size
    }

    /// Time has passed.
    /// - Returns: whether it has been fast enough. If so, and the period is over, the next one begins.
    package mutating func advance(to now: Instant) -> Bool {
        guard now >= periodEnd else { return true }
        guard moved - former >= needed else { return false }
        former = moved
        periodEnd = now.advanced(by: period)
        return true
    }

    private var needed: UInt64 {
        guard let size else { return Self.minimum }
        return size > former ? min(Self.minimum, size - former) : 0
    }

    // MARK: The end

    /// How much of a document may be on its way unseen once its sender is rid of it: in sockets, and in both bridges.
    private static let underWay: UInt64 = 1 << 20
    /// How many bytes a second the slowest link brings that is still in use: 64 kbit/s.
    private static let slowest: UInt64 = 8 << 10

    /// How long a sender waits for the acknowledgement of a document of `size` bytes that it is rid of: what is under
    /// way may still be coming.
    package static func receipt(of size: UInt64) -> Duration {
        Deadline.documentReceipt + .seconds(Int64(min(size, underWay) / slowest))
    }
}
