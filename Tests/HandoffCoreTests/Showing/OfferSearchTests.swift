// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@Suite("The search for offers")
struct OfferSearchTests {
    private static let entries: [OfferSearch<Int>.Entry] = [
        .init(0, title: "Quarterly report.odt", device: "Kitchen laptop", application: "Writer"),
        .init(1, title: "Report on the kitchen", device: "desk", application: "Text Editor"),
        .init(2, title: "東京の天気", device: "Werkstatt", application: "Web"),
        .init(3, title: "", device: "desk", application: "Maps"),
    ]

    private static let search = OfferSearch(
        entries, keywords: ["continue", "handoff", "weiter"], fold: { $0.lowercased() })

    private static func found(_ query: String) -> [Int] {
        search.matches(for: query.split(separator: " ").map(String.init)).map(\.id)
    }

    @Test(
        "finds offers by words of the title, the device, the application, and words for all of them, the best first",
        arguments: [
            // Titles count most, then whole words, then those that were given first.
            ("report", [0, 1]), ("REP", [0, 1]), ("kitchen", [1, 0]), ("report kitchen", [1, 0]),
            ("desk", [1, 3]), ("writer", [0]), ("edit", [1]), ("map desk", [3]),
            ("continue", [0, 1, 2, 3]), ("cont", [0, 1, 2, 3]), ("handoff", [0, 1, 2, 3]),
            ("weit", [0, 1, 2, 3]),
            ("continue report", [0, 1]), ("handoff maps", [3]), ("report.odt", [0]), ("– report", [0, 1]),
            // Within a script without spaces, each character may begin a word.
            ("天気", [2]), ("東京", [2]),
            ("eport", []), ("report maps", []), ("co", []), ("continued", []), ("-", []), ("", []),
        ])
    func finds(query: String, expected: [Int]) {
        #expect(Self.found(query) == expected)
    }

    @Test("tells how well an offer matches, which is completely if each term is a word of its title")
    func relevance() throws {
        let whole = try #require(Self.search.matches(for: ["Report", "odt"]).first)
        #expect(whole.id == 0 && whole.relevance == 1)
        for terms in [["rep"], ["continue"], ["report", "desk"]] {
            for match in Self.search.matches(for: terms) {
                #expect(match.relevance > 0 && match.relevance < 1)
            }
        }
    }

    @Test("looks at so many terms of such a length, and finds so many")
    func bounds() {
        let many = (0..<100).map {
            OfferSearch<Int>.Entry($0, title: "Report", device: "", application: "")
        }
        let search = OfferSearch(many, keywords: [], fold: { $0.lowercased() })
        #expect(search.matches(for: ["report"]).map(\.id) == Array(0..<16))
        let terms = Array(repeating: "report", count: 64)
        #expect(search.matches(for: terms + ["missing"]).count == 16)
        #expect(search.matches(for: terms.dropLast() + ["missing"]).isEmpty)
        #expect(search.matches(for: [String(repeating: "r", count: 257)]).isEmpty)
        // What one term is taken apart into counts too.
        #expect(search.matches(for: [String(repeating: "report ", count: 36)]).count == 16)
    }

    @Test("takes any text, of a title and of a term, and looks at a bounded part of it")
    func anyText() {
        let texts = [
            String(repeating: "a", count: 10_000), String(repeating: "\u{301}", count: 10_000),
            String(repeating: "天", count: 10_000), "\u{202E}\u{0}\n<b>&amp;",
            String(repeating: "a ", count: 10_000),
        ]
        let search = OfferSearch(
            texts.enumerated().map { .init($0, title: $1, device: $1, application: $1) }, keywords: [],
            fold: { $0 })
        for text in texts { _ = search.matches(for: [String(text.prefix(256)), text]) }
        #expect(search.matches(for: ["amp"]).map(\.id) == [3])
        #expect(search.matches(for: ["天天"]).map(\.id) == [2])
    }
}
