// SPDX-License-Identifier: LGPL-2.1-or-later

/// Which of the offers that a compositor tells of are one's own, and which ones of others are news.
///
/// A compositor tells everybody of each selection, also whoever has made it, and what it tells may be older than what was asked
/// of it last. So each source has a number, and a mark by which its offer is known. Clipboard managers may copy a mark along
/// with all other types: it counts no more once its source was cancelled, of which compositors tell first.
struct WaylandOwnership {
    /// The number of the source that is owned, or was to be; nil if there is none.
    private(set) var owned: UInt64?
    /// The number of the last source.
    private var last: UInt64 = 0
    /// All offers up to this number have been told of, or never will be.
    private var seen: UInt64 = 0
    /// Whether the compositor has told of the offer of ``owned``.
    private var isConfirmed = false
    /// What was told before that, and is news if the source is cancelled.
    private var withheld: [String]?
    private let markPrefix: String

    /// Nothing is owned. `secret` tells the marks from those of other processes.
    init(secret: UInt64) { markPrefix = "\(WaylandOffer.markPrefix)\(String(secret, radix: 16))-" }

    /// Something is owned from now on, by a new source, in place of the former one.
    /// - Returns: the number of the source.
    mutating func own() -> UInt64 {
        last += 1
        owned = last
        isConfirmed = false
        return last
    }

    /// The mark of the source with this number.
    func mark(of number: UInt64) -> String { "\(markPrefix)\(number)" }

    /// Whether this offer is what is owned now.
    func isOwned(_ offer: WaylandOffer) -> Bool { owned.map { mark(of: $0) == offer.mark } ?? false }

    /// What is owned is given up.
    mutating func disown() {
        owned = nil
        withheld = nil
    }

    /// The connection on which all of it was told is gone.
    mutating func lose() {
        disown()
        seen = last
    }

    /// The compositor says that this is in the clipboard; nil for nothing.
    /// - Returns: the types that are to be told of; nil if this is no news.
    mutating func selected(_ offer: WaylandOffer?) -> [String]? {
        withheld = nil
        if let number = offer?.mark.flatMap(number(of:)),
            number == owned || (number > seen && number <= last)
        {
            seen = max(seen, number)
            isConfirmed = isConfirmed || number == owned
            return nil
        }
        let types = offer?.types ?? []
        guard owned == nil || (isConfirmed && offer != nil) else {
            withheld = types
            return nil
        }
        return types
    }

    /// The compositor says that the source with this number is not in the clipboard any more.
    /// - Returns: the types that are to be told of; nil if there is nothing new yet.
    mutating func cancelled(_ number: UInt64) -> [String]? {
        guard number == owned else { return nil }
        seen = max(seen, number)
        let types = withheld
        disown()
        return types
    }

    /// The number of the source that has this mark; nil if it is of another process.
    private func number(of mark: String) -> UInt64? {
        mark.hasPrefix(markPrefix) ? UInt64(mark.dropFirst(markPrefix.count)) : nil
    }
}
