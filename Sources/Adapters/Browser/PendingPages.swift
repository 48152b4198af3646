// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// The pages that browsers were started with, and where in them their user was, until the add-on of that browser asks for it.
struct PendingPages {
    /// One of them.
    struct Page: Equatable {
        /// What tells it from all others.
        let number: Int
        /// The browser that was started with it, by each name that it may give itself.
        let browsers: Set<ApplicationID>
        /// Its address.
        let address: String
        /// Where its user was.
        let place: PagePlace
        /// The window that it was in front of, if all of that is continued; nil for the page alone.
        let window: BrowsingWindow?
        /// Until when it is kept, in microseconds.
        let until: Int64
        /// Who has taken it; nil if nobody has.
        fileprivate(set) var taker: String?
    }

    private var pages: [Page] = []
    private var last = 0

    /// How many there are at most; the oldest makes room.
    static let maximum = 8

    /// The browser that may call itself any of `browsers` was started with the page at `address`, which is in front of `window`
    /// if that is to be continued.
    /// - Returns: the number of the page.
    @discardableResult
    mutating func add(
        _ address: String, _ place: PagePlace, in window: BrowsingWindow? = nil,
        for browsers: Set<ApplicationID>, until: Int64
    ) -> Int {
        last += 1
        pages.append(
            Page(
                number: last, browsers: browsers, address: address, place: place, window: window, until: until
            ))
        if pages.count > Self.maximum { pages.removeFirst() }
        return last
    }

    /// Forgets the page `number`, if it is still kept.
    mutating func remove(_ number: Int) { pages.removeAll { $0.number == number } }

    /// Takes all of `browser` that are still kept and nobody has taken, the oldest first. Those of others stay.
    mutating func take(for browser: ApplicationID, by taker: String = "", at now: Int64) -> [Page] {
        pages.removeAll { $0.until <= now }
        let taken = pages.indices.filter { pages[$0].browsers.contains(browser) && pages[$0].taker == nil }
        for index in taken { pages[index].taker = taker }
        return taken.map { pages[$0] }
    }

    /// `taker` has ended, and what it has taken can be taken anew: Firefox starts an add-on twice at times, and only the second
    /// one lives.
    mutating func ended(_ taker: String) {
        for index in pages.indices where pages[index].taker == taker { pages[index].taker = nil }
    }

    /// How long it takes until none waits to be taken, in microseconds; nil if none does.
    func remaining(at now: Int64) -> Int64? {
        pages.filter { $0.taker == nil }.map { $0.until - now }.max().flatMap { $0 > 0 ? $0 : nil }
    }
}
