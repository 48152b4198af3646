// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import Testing

@testable import HandoffAgent

@Suite("What can be pressed in a notification")
struct NoticePostTests {
    private static func compared(_ code: String) -> Notice {
        .comparing(PairingNotices.Device(id: "aa", name: "lap", stage: .comparing, code: code))
    }

    private static func question(_ title: String, _ path: String = "/a") throws -> Notice {
        try #require(Notice.question(ShownOffer(path: path, deviceID: "d", title: title), in: .arrival))
    }

    @Test("only who knows the word of a button presses it")
    func words() throws {
        let post = NoticePost(Self.compared("123 456"), nil, replacing: nil)
        let yes = NoticePress.confirm(deviceID: "aa", code: "123 456", matches: true)
        let word = try #require(post.words[yes])
        #expect(word.count == 32)
        #expect(post.press("matches", word) == yes)
        #expect(post.press("differs", word) == nil)
        #expect(post.press("matches", "") == nil)
        #expect(post.press("matches", "aa") == nil)
        #expect(Set(post.words.values).count == 2)
    }

    @Test("the word of one code is worth nothing for another")
    func codes() {
        let one = NoticePost(Self.compared("123 456"), nil, replacing: nil)
        let other = NoticePost(Self.compared("123 457"), nil, replacing: one)
        #expect(Set(one.words.values).isDisjoint(with: other.words.values))
        #expect(!other.isUpdate)
    }

    @Test("a question that only reads differently can still be answered by who saw it before, another cannot")
    func questions() throws {
        let one = NoticePost(try Self.question("1"), nil, replacing: nil)
        let same = NoticePost(try Self.question("2"), nil, replacing: one)
        #expect(one.words == same.words)
        #expect(same.isUpdate)
        let other = NoticePost(try Self.question("2", "/b"), nil, replacing: one)
        #expect(Set(one.words.values).isDisjoint(with: other.words.values))
    }

    @Test("a button that was seen is never that of what has come in its place")
    func keys() throws {
        let one = NoticePost(try Self.question("1"), nil, replacing: nil)
        let other = NoticePost(try Self.question("1", "/b"), nil, replacing: one)
        let changed = NoticePost(try Self.question("2"), nil, replacing: one)
        let key = PlainNotice(one, replacing: 0, ["actions"]).actions[2]
        #expect(PlainNotice.press(key, in: one) == one.notice.press)
        #expect(PlainNotice.press(key, in: changed) == one.notice.press)
        #expect(PlainNotice.press(key, in: other) == nil)
        for key in ["continue", "continue.", "", key.uppercased()] {
            #expect(PlainNotice.press(key, in: one) == nil)
        }
        #expect(changed.canReplace(one))
        #expect(!other.canReplace(one))
    }

    @Test("a failure that can no longer be tried again says nothing new, one in place of a progress does")
    func lessToPress() throws {
        let offer = ShownOffer(path: "/a", deviceID: "d", title: "1")
        func failure(_ again: Bool) throws -> Notice {
            try #require(Notice.failure(.init(offer: offer, message: "Why.", canTryAgain: again)))
        }
        let progress = NoticePost(try #require(Notice.progress(offer)), nil, replacing: nil)
        let one = NoticePost(try failure(true), nil, replacing: progress)
        #expect(!one.isUpdate && !one.canReplace(progress))
        let less = NoticePost(try failure(false), nil, replacing: one)
        #expect(less.isUpdate && less.canReplace(one))
        #expect(!NoticePost(try failure(false), nil, replacing: progress).isUpdate)
    }

    @Test(
        "a picture is a name of the theme or a file, and nothing else",
        arguments: [
            ("org.example.App", ApplicationLook.Icon.named("org.example.App")),
            ("/a/b c.png", .file("/a/b c.png")),
            ("", nil), ("../x", nil), ("a/b", nil), ("a b", nil), ("file:///x", nil), ("<b>", nil),
            ("/a/b\n.png", nil), ("/a/\u{202E}b.png", nil), ("a\u{7F}", nil),
        ] as [(String, ApplicationLook.Icon?)])
    func icons(_ text: String, _ icon: ApplicationLook.Icon?) {
        #expect(ApplicationLook.icon(text) == icon)
    }

    @Test(
        "what is no token of a desktop is none",
        arguments: [
            ("", false), ("a\n", false), ("ü", false), (String(repeating: "a", count: 257), false),
            ("a-1_TIME0", true),
        ])
    func tokens(_ text: String, _ isToken: Bool) {
        #expect((ActivationToken.checked(text) == text) == isToken)
    }
}
