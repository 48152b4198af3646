// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("What was copied where")
struct ClipboardNewsTests {
    private typealias Announcement = ClipboardNews.Announcement
    private static let start = Instant(microseconds: 1_000_000_000)

    private func news(_ mode: ClipboardMode = .follow) -> ClipboardNews { ClipboardNews(mode) }

    private func copied(_ age: Duration = .zero) -> Announcement { Announcement(kinds: [.text], age: age) }

    private func sent(_ number: UInt8 = 1) throws -> Announcement {
        Announcement(kinds: [.text], sent: try Example.continuation(number))
    }

    private func code(_ body: () throws -> Void) -> HandoffFailure.Code? {
        do { try body() } catch { return (error as? HandoffFailure)?.code }
        return nil
    }

    @Test(
        "what a peer copies is followed only by who wants that; what it sends is asked of everybody but who wants nothing"
    )
    func modes() throws {
        let (device, now) = (try Example.device(1), Self.start)
        for mode in ClipboardMode.allCases {
            var news = news(mode)
            guard mode != .off else {
                #expect(code { _ = try news.announced(copied(), by: device, at: now) } == .disabled)
                #expect(code { try news.begin(device, at: now) } == .disabled)
                continue
            }
            let followed = try news.announced(copied(), by: device, at: now)
            #expect(followed == (mode == .follow ? .follow(device, kinds: [.text], age: .zero) : nil))
            #expect(try news.announced(sent(), by: device, at: now) == .ask(device, kinds: [.text]))
            try news.begin(device, at: now)
        }
    }

    @Test(
        "what was copied later counts, here or on another device, by its age; what is older than two minutes does not"
    )
    func later() throws {
        let (one, other) = (try Example.device(1), try Example.device(2))
        var (news, now) = (news(), Self.start)
        #expect(try news.announced(copied(.seconds(20)), by: one, at: now) != nil)
        #expect(try news.announced(copied(.seconds(30)), by: other, at: now) == nil)
        #expect(try news.announced(copied(.seconds(10)), by: other, at: now) != nil)
        now = now.advanced(by: .seconds(1))
        news.changed([.html, .html], at: now)
        #expect(news.followed == nil && news.own?.kinds == [.html])
        #expect(try news.announced(copied(.seconds(5)), by: one, at: now) == nil)
        now = now.advanced(by: .seconds(1))
        news.pasted(at: now)
        #expect(news.own == nil)
        #expect(try news.announced(copied(.milliseconds(500)), by: one, at: now) == nil)
        now = now.advanced(by: .seconds(200))
        #expect(try news.announced(copied(.seconds(120)), by: one, at: now) == nil)
        #expect(
            try news.announced(copied(.seconds(-1000)), by: one, at: now)
                == .follow(one, kinds: [.text], age: .zero))
        #expect(Announcement(kinds: [], age: .microseconds(Int64.max)).age == ClipboardNews.lifetime)
    }

    @Test(
        "a peer whose clipboard holds nothing any more ends only what was followed of it; so do its end as a peer, its mute, and another choice"
    )
    func ends() throws {
        let (one, other, now) = (try Example.device(1), try Example.device(2), Self.start)
        let nothing = Announcement(kinds: [])
        let end = ClipboardNews.Action.follow(one, kinds: [], age: .zero)
        var news = news()
        func follow() throws { _ = try news.announced(copied(), by: one, at: now) }
        try follow()
        #expect(try news.announced(nothing, by: other, at: now) == nil)
        #expect(try news.announced(nothing, by: one, at: now) == end)
        try follow()
        #expect(news.removed(other) == nil && news.removed(one) == end)
        try follow()
        #expect(news.setMuted(true, other) == nil && news.setMuted(true, one) == end)
        #expect(news.setMuted(false, one) == nil)
        try follow()
        #expect(news.choose(.follow) == nil && news.choose(.ask) == end && news.choose(.off) == nil)
    }

    @Test(
        "what was copied here is news for two minutes, only for a user who wants that, and not once something else is in the clipboard"
    )
    func own() throws {
        var news = news()
        #expect(news.news(at: Self.start) == nil)
        news.changed([.text, .html], at: Self.start)
        #expect(news.news(at: Self.start.advanced(by: .seconds(119)))?.kinds == [.text, .html])
        #expect(news.news(at: Self.start.advanced(by: .seconds(119)))?.age == .seconds(119))
        #expect(news.news(at: Self.start.advanced(by: .seconds(120))) == nil)
        let later = Self.start.advanced(by: .seconds(1))
        _ = try news.announced(copied(), by: try Example.device(1), at: later)
        #expect(news.news(at: later) == nil)
        news.changed([.text], at: later)
        _ = news.choose(.ask)
        _ = news.choose(.follow)
        #expect(news.news(at: later) == nil)
    }

    @Test(
        "what a peer has sent can be had under its id for ten minutes, until it was fetched, or the user does not want it"
    )
    func sentHere() throws {
        let (device, id) = (try Example.device(1), try Example.continuation(1))
        var news = news(.ask)
        func send() throws { _ = try news.announced(sent(), by: device, at: Self.start) }
        try send()
        #expect(news.sent(by: device, at: Self.start.advanced(by: .seconds(599))) == id)
        #expect(news.sent(by: device, at: Self.start.advanced(by: .seconds(600))) == nil)
        #expect(news.sent(by: try Example.device(2), at: Self.start) == nil)
        news.sentIsOver(device)
        #expect(news.sent(by: device, at: Self.start) == nil)
        try send()
        _ = news.setMuted(true, device)
        #expect(news.sent(by: device, at: Self.start) == nil)
    }

    @Test("a muted peer gets nothing, and nothing that it says counts")
    func muted() throws {
        let device = try Example.device(1)
        var news = news()
        _ = news.setMuted(true, device)
        #expect(try news.announced(copied(), by: device, at: Self.start) == nil)
        #expect(try news.announced(sent(), by: device, at: Self.start) == nil)
        #expect(code { try news.begin(device, at: Self.start) } == .accessDenied)
        _ = news.setMuted(false, device)
        try news.begin(device, at: Self.start)
    }

    @Test(
        "a peer tells and fetches twenty times within ten seconds, and fetches one at a time; another is not held up by it"
    )
    func limits() throws {
        let (one, other) = (try Example.device(1), try Example.device(2))
        var (news, now) = (news(), Self.start)
        for _ in 1...20 { _ = try news.announced(copied(), by: one, at: now) }
        #expect(code { _ = try news.announced(copied(), by: one, at: now) } == .limitsExceeded)
        _ = try news.announced(copied(), by: other, at: now)
        for _ in 1...20 {
            try news.begin(one, at: now)
            #expect(code { try news.begin(one, at: now) } == .limitsExceeded)
            news.ended(one)
        }
        #expect(code { try news.begin(one, at: now) } == .limitsExceeded)
        try news.begin(other, at: now)
        now = now.advanced(by: .seconds(10))
        try news.begin(one, at: now)
        _ = try news.announced(copied(), by: one, at: now)
    }

    @Test("of what two devices copy at nearly the same time the same counts on both, and nothing is lost")
    func tie() throws {
        let (one, other) = (try Example.device(1), try Example.device(2))
        var (here, there) = (news(), news())
        here.changed([.text], at: Self.start, lot: 7)
        there.changed([.html], at: Self.start.advanced(by: .milliseconds(20)), lot: 9)
        let later = Self.start.advanced(by: .milliseconds(100))
        let (mine, theirs) = (try #require(here.news(at: later)), try #require(there.news(at: later)))
        let arrival = later.advanced(by: .milliseconds(30))
        #expect(try there.announced(mine, by: one, at: arrival) == nil)
        #expect(try here.announced(theirs, by: other, at: arrival) != nil)
        #expect(there.own != nil && here.own == nil && here.followed == other)
    }

    @Test("a user is asked ten times in half a minute by one device")
    func asked() throws {
        let device = try Example.device(1)
        var news = news(.ask)
        for number in UInt8(1)...10 { _ = try news.announced(sent(number), by: device, at: Self.start) }
        #expect(code { _ = try news.announced(try sent(16), by: device, at: Self.start) } == .limitsExceeded)
        let later = Self.start.advanced(by: .seconds(30))
        #expect(try news.announced(sent(7), by: device, at: later) != nil)
    }
}
