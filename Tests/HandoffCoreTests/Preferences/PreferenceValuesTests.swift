// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("What the user may choose")
struct PreferenceValuesTests {
    private func failure(_ body: () throws -> Void) -> HandoffFailure? {
        do {
            try body()
            return nil
        } catch {
            return error as? HandoffFailure
        }
    }

    @Test("when to notify of offers is one of three words, and what is refused is told which")
    func notices() throws {
        for notices in OfferNotices.allCases { #expect(try OfferNotices(notices.rawValue) == notices) }
        for text in ["", "Arrival", "arrival ", "true", "never\u{202e}"] {
            let refusal = failure { _ = try OfferNotices(text) }
            #expect(refusal?.code == .invalidArguments, "\(text)")
            #expect(refusal?.message.contains("arrival, always, never") == true)
            #expect(refusal?.message.contains("\u{202e}") == false)
        }
    }

    @Test("adapters have names of letters, digits and hyphens, each once, and 64 at most")
    func adapters() throws {
        let longest = String(repeating: "x", count: 64)
        #expect(
            try AdapterName.set(["mpv", "a-1", "mpv", longest]).sorted().map(\.description) == [
                "a-1", "mpv", longest,
            ])
        for text in ["", "a_b", "a b", "a;b", "ä", "../x", "a\n", longest + "x"] {
            #expect(failure { _ = try AdapterName.set(["mpv", text]) }?.code == .invalidArguments, "\(text)")
        }
        let many = (0..<65).map { "a\($0)" }
        #expect(try AdapterName.set(Array(many.dropLast())).count == 64)
        #expect(failure { _ = try AdapterName.set(many) }?.code == .limitsExceeded)
    }

    @Test("excluded applications have application ids, each once, and are 256 at most")
    func excluded() throws {
        let excluded = try ExcludedApplications(["org.b", "com.a", "org.b"])
        #expect(excluded.texts == ["com.a", "org.b"])
        #expect(try ExcludedApplications([]) == ExcludedApplications())
        for text in ["", ".hidden", "a/b", "a;b", "a b", "ä", String(repeating: "x", count: 256)] {
            #expect(
                failure { _ = try ExcludedApplications(["com.a", text]) }?.code == .invalidArguments,
                "\(text)")
        }
        let many = (0..<257).map { "com.a\($0)" }
        #expect(try ExcludedApplications(Array(many.dropLast())).ids.count == 256)
        #expect(failure { _ = try ExcludedApplications(many) }?.code == .limitsExceeded)
    }

    @Test(
        "the folder for documents is an absolute path, perhaps from the home folder, and keeps how it was written"
    )
    func folder() throws {
        for (text, path) in [
            ("/srv/in", "/srv/in"), ("/srv/in//", "/srv/in"), ("~/In", "/home/me/In"),
            ("~/a b/ü", "/home/me/a b/ü"),
            ("~/x/", "/home/me/x"), ("/~", "/~"), ("/a/…", "/a/…"), ("~/", "/home/me"),
        ] {
            let folder = try DocumentsFolder(text, home: "/home/me")
            #expect(folder.path == path && folder.text == text)
        }
        for text in [
            "", "/", "//", "~", "~me/x", "In", "./In", "/a//b", "/a/./b", "/a/../b", "/..", "~/../you",
            "/a\nb",
            "/a\u{202e}b", "/a\u{0}b", "/" + String(repeating: "x", count: 4000), "file:///a",
            "/a" + String(repeating: "/", count: 1 << 20),
        ] {
            let refusal = failure { _ = try DocumentsFolder(text, home: "/home/me") }
            #expect(refusal?.code == .invalidArguments, "\(text)")
            #expect(refusal?.message.contains("absolute path") == true)
        }
    }

    @Test(
        "a path has a folder above it and a name, also where what follows the slash joins it to one character"
    )
    func parts() throws {
        for (path, above, name) in [
            ("/a/b", "/a", "b"), ("/a", "/", "a"), ("/a/\u{301}b", "/a", "\u{301}b"), ("/x/y/z", "/x/y", "z"),
        ] {
            let parts = DocumentsFolder.parts(of: path)
            #expect(
                Array(parts.above.utf8) == Array(above.utf8) && Array(parts.name.utf8) == Array(name.utf8))
        }
    }
}
