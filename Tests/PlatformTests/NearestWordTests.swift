// SPDX-License-Identifier: LGPL-2.1-or-later
import Platform
import Testing

@Suite("The word that was meant")
struct NearestWordTests {
    private static let words = ["status", "list", "continue", "send", "on", "off", "watch", "publish"]

    @Test(
        "what is missing, too much, wrong or swapped is forgiven",
        arguments: [
            ("stauts", "status"), ("statu", "status"), ("lisst", "list"), ("contine", "continue"),
            ("SEND", "send"),
            ("snd", "send"), ("wacht", "watch"), ("pubilsh", "publish"), ("of", "on"),
        ])
    func near(_ typed: String, _ meant: String) { #expect(NearestWord.to(typed, among: Self.words) == meant) }

    @Test(
        "what is far from all of them, empty, or endless is no word",
        arguments: ["", "frobnicate", "pair", String(repeating: "s", count: 100_000)])
    func far(_ typed: String) { #expect(NearestWord.to(typed, among: Self.words) == nil) }

    @Test("where there are no words, none is meant") func none() {
        #expect(NearestWord.to("on", among: []) == nil)
    }
}
