// SPDX-License-Identifier: LGPL-2.1-or-later
import GTKSupport
import Testing

struct ListChangeTests {
    @Test(
        "only what differs between two lists is replaced",
        arguments: [
            ("", "", nil), ("abc", "abc", nil), ("", "abc", "0 0 abc"), ("abc", "", "0 3 "),
            ("abc", "bc", "0 1 "),
            ("abc", "ab", "2 1 "), ("abc", "abcd", "3 0 d"), ("abc", "xabc", "0 0 x"),
            ("abc", "axc", "1 1 x"),
            ("aa", "aaa", "2 0 a"), ("aaa", "aa", "2 1 "), ("abab", "ab", "2 2 "), ("abc", "cba", "0 3 cba"),
        ])
    func changes(former: String, new: String, expected: String?) {
        let change = ListChange(from: former.map(String.init), to: new.map(String.init))
        #expect(change.map { "\($0.position) \($0.removed) \($0.added.joined())" } == expected)
    }

    @Test("replacing what a change says gives the new list, whatever the lists are")
    func applied() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let lists = (0..<2).map { _ in
                (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                    ["a", "b", "c"].randomElement(using: &generator) ?? ""
                }
            }
            var list = lists[0]
            if let change = ListChange(from: lists[0], to: lists[1]) {
                list.replaceSubrange(change.position..<(change.position + change.removed), with: change.added)
            }
            #expect(list == lists[1])
        }
    }
}
