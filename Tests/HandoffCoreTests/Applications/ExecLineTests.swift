// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("Command lines of desktop entries")
struct ExecLineTests {
    private static let entry = ExecLine.Entry(name: "My Notes", icon: "notes", path: "/a b/notes.desktop")
    private static let page = ExecLine.Opened.page("https://example.com/?a=1&b=$(id)")
    private static let file = ExecLine.Opened.file(url: "file:///a%20b", path: "/a b")

    private func arguments(_ words: [String], _ opened: ExecLine.Opened? = nil) throws -> [String] {
        try ExecLine(words: words).arguments(opening: opened, of: Self.entry)
    }

    @Test(
        "each field code stands for what the specification says",
        arguments: [
            (["notes"], nil, ["notes"]),
            (["/opt/notes", "--new"], nil, ["/opt/notes", "--new"]),
            (["notes", "%u"], nil, ["notes"]),
            (["notes", "%U", "--last"], page, ["notes", "https://example.com/?a=1&b=$(id)", "--last"]),
            (["notes", "%u"], file, ["notes", "file:///a%20b"]),
            (["notes", "%f"], file, ["notes", "/a b"]),
            (["notes", "%F", "-x"], file, ["notes", "/a b", "-x"]),
            (["notes", "--open=%f"], file, ["notes", "--open=/a b"]),
            (["notes", "--open=%u"], nil, ["notes", "--open="]),
            (["notes", "%i"], nil, ["notes", "--icon", "notes"]),
            (["notes", "%c", "%k"], nil, ["notes", "My Notes", "/a b/notes.desktop"]),
            (["notes", "100%%", "%%u"], nil, ["notes", "100%", "%u"]),
            (["notes", "%d", "%D", "%n", "%N", "%v", "%m", "x%d"], nil, ["notes", "x"]),
            (["no%%tes", ""], nil, ["no%tes", ""]),
            (
                ["sh", "-c", "notes \"$1\"", "sh", "%u"], page,
                ["sh", "-c", "notes \"$1\"", "sh", "https://example.com/?a=1&b=$(id)"]
            ),
        ] as [([String], ExecLine.Opened?, [String])])
    func codes(_ words: [String], _ opened: ExecLine.Opened?, _ expected: [String]) throws {
        #expect(try arguments(words, opened) == expected)
    }

    @Test("a line that does not say where it goes gets what is opened at its end, a file by its path")
    func appended() throws {
        #expect(try arguments(["notes", "-x"], Self.page).last == "https://example.com/?a=1&b=$(id)")
        #expect(try arguments(["notes", "-x"], Self.file) == ["notes", "-x", "/a b"])
        #expect(try arguments(["notes"], .file(url: "file:///%ff", path: nil)) == ["notes", "file:///%ff"])
        #expect(try !ExecLine(words: ["notes", "%%u"]).takesSomething)
    }

    @Test(
        "an illegal line is refused, and so is one that would put what is opened into a shell's hands",
        arguments: [
            [], [""], ["%u"], ["A=b", "c"], ["no%ftes"], ["notes", "%"], ["notes", "50%"], ["notes", "%x"],
            ["sh", "-c", "notes %u"], ["sh", "-c", "notes '%f'"], ["sh", "-c", "a;%u"], ["notes", "$HOME%f"],
        ])
    func illegal(_ words: [String]) {
        #expect(code { _ = try ExecLine(words: words) } == .applicationFailed)
    }

    @Test("what opens only files is given no page, and no path that is not text")
    func filesOnly() throws {
        let line = try ExecLine(words: ["notes", "%f"])
        #expect(code { _ = try line.arguments(opening: Self.page, of: Self.entry) } == .applicationFailed)
        let odd = ExecLine.Opened.file(url: "file:///%ff", path: nil)
        #expect(code { _ = try line.arguments(opening: odd, of: Self.entry) } == .applicationFailed)
    }

    @Test(
        "whatever the line is, what is opened is an argument of its own or ends a plain one",
        arguments: 1...60)
    func anything(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "%u", "%f", "%%", "%i", "%c", "%d", "%", "x", "-o=", " ", "\"", "$", ";", "é", "", "%U", "/",
        ]
        let marker = "https://example.com/;$(touch x)"
        for _ in 0..<200 {
            let words = (0..<Int.random(in: 0..<5, using: &generator)).map { _ in
                (0..<Int.random(in: 0..<4, using: &generator)).map { _ in
                    pieces[Int.random(in: 0..<pieces.count, using: &generator)]
                }.joined()
            }
            guard let line = try? ExecLine(words: words) else { continue }
            #expect(!line.program.contains(marker) && !line.program.isEmpty)
            guard let result = try? line.arguments(opening: .page(marker), of: Self.entry) else { continue }
            let holders = result.filter { $0.contains(marker) }
            #expect(!holders.isEmpty && result.first == line.program)
            for holder in holders {
                let rest = holder.replacing(marker, with: "").unicodeScalars
                #expect(!rest.contains { " \"$;'`&|".unicodeScalars.contains($0) })
            }
        }
    }
}
