// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("What was copied where")
struct ClipboardNewsTests {
    private typealias Announcement = ClipboardNews.Announcement
    private static let start = Instant(microseconds: 1_000_000_000)

    private func news(_ mode: ClipboardMode = .follow) -> ClipboardNews { ClipboardNews(mode) }

    private func copied(_ age: Duration = .zero, sent: Bool = false) -> Announcement {
        Announcement(kinds: [.text], age: age, isSent: sent)
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
            #expect(
                try news.announced(copied(sent: true), by: device, at: now) == .ask(device, kinds: [.text]))
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
        news.changed([.html], at: now)
        #expect(news.followed == nil)
        #expect(try news.announced(copied(.seconds(5)), by: one, at: now) == nil)
        now = now.advanced(by: .seconds(200))
        #expect(try news.announced(copied(.seconds(120)), by: one, at: now) == nil)
        #expect(
            try news.announced(copied(.seconds(-1000)), by: one, at: now)
                == .follow(one, kinds: [.text], age: .zero))
    }

    @Test(
        "a peer whose clipboard holds nothing any more ends only what was followed of it; so does its end as a peer"
    )
    func ends() throws {
        let (one, other, now) = (try Example.device(1), try Example.device(2), Self.start)
        let nothing = Announcement(kinds: [], age: .zero, isSent: false)
        var news = news()
        _ = try news.announced(copied(), by: one, at: now)
        #expect(try news.announced(nothing, by: other, at: now) == nil)
        #expect(try news.announced(nothing, by: one, at: now) == .follow(one, kinds: [], age: .zero))
        _ = try news.announced(copied(), by: one, at: now)
        #expect(news.removed(other) == nil)
        #expect(news.removed(one) == .follow(one, kinds: [], age: .zero))
    }

    @Test("what was copied here is news for two minutes, and only for a user who wants that")
    func own() {
        var news = news()
        #expect(news.news(at: Self.start) == nil)
        news.changed([.text, .html], at: Self.start)
        #expect(news.news(at: Self.start.advanced(by: .seconds(119)))?.kinds == [.text, .html])
        #expect(news.news(at: Self.start.advanced(by: .seconds(119)))?.age == .seconds(119))
        #expect(news.news(at: Self.start.advanced(by: .seconds(120))) == nil)
        news.mode = .ask
        #expect(news.news(at: Self.start) == nil)
    }

    @Test("a muted peer gets nothing, and nothing that it says counts")
    func muted() throws {
        let device = try Example.device(1)
        var news = news()
        news.setMuted(true, device)
        #expect(try news.announced(copied(), by: device, at: Self.start) == nil)
        #expect(try news.announced(copied(sent: true), by: device, at: Self.start) == nil)
        #expect(code { try news.begin(device, at: Self.start) } == .accessDenied)
        news.setMuted(false, device)
        try news.begin(device, at: Self.start)
    }

    @Test(
        "a peer tells ten times within ten seconds, fetches eight times, and one at a time; another is not held up by it"
    )
    func limits() throws {
        let (one, other) = (try Example.device(1), try Example.device(2))
        var (news, now) = (news(), Self.start)
        for _ in 1...10 { _ = try news.announced(copied(), by: one, at: now) }
        #expect(code { _ = try news.announced(copied(), by: one, at: now) } == .limitsExceeded)
        _ = try news.announced(copied(), by: other, at: now)
        for _ in 1...8 {
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
}
