// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffStatus
import Platform
import Testing

@testable import HandoffCommand

@Suite("What can complete a command line")
struct CompletionTests {
    @Test(
        "the place says what can stand there",
        arguments: [
            ([], .verbs), ([""], .verbs), (["st"], .verbs), (["help", ""], .verbs),
            (["help", "a", ""], .nothing),
            (["continue", ""], .offers), (["continue", "--verbose", ""], .offers),
            (["continue", "--app", ""], .handlers), (["continue", "--app=x", ""], .offers),
            (["continue", "--app="], .handlers), (["continue", "--app", "x", ""], .offers),
            (["continue", "--device", ""], .peers), (["list", "--open", "--device="], .peers),
            (["paste", ""], .peers), (["paste", "lap", ""], .nothing),
            (["paste", "--type", ""], .clipboardKinds),
            (["copy", ""], .peers), (["copy", "lap", ""], .files),
            (["copy", "lap", "letter.txt", ""], .nothing),
            (["continue", "12", ""], .nothing), (["send", ""], .recipients), (["cancel", ""], .waiting),
            (["pair", ""], .strangers), (["decline", ""], .declinable),
            (["mute", ""], .unmutedPeers), (["unmute", ""], .mutedPeers), (["unpair", ""], .peers),
            (["connect", ""], .addresses), (["trust", ""], .nothing), (["fly", ""], .nothing),
            (["carry", ""], .peers), (["carry", "lap", "--", ""], .commands),
            (["carry", "--listen", ""], .files),
            (["publish", "--document", ""], .files), (["publish", "--document="], .files),
            (["publish", "--title", "--document", ""], .files),
            (["publish", "--", "--document", ""], .nothing),
        ] as [([String], Completion)])
    func places(_ words: [String], _ expected: Completion) {
        #expect(CompletionRequest(words).completion == expected)
    }

    @Test("an option is completed where it is begun, or where nothing else can stand, and not twice")
    func options() {
        func options(_ words: String...) -> [String] { CompletionRequest(words).options.map(\.value) }
        #expect(options("status", "") == ["--help", "--version", "--json"])
        #expect(options("continue", "") == [])
        #expect(options("continue", "--").contains("--remember"))
        #expect(!options("continue", "--remember", "--").contains("--remember"))
        #expect(!options("continue", "-v", "--").contains("--verbose"))
        #expect(options("receive", "--type", "x", "--").contains("--type"), "it may be repeated")
        #expect(options("receive", "--type", "--") == [])
        #expect(options("receive", "--", "--") == [])
    }

    @Test("what stands behind an equals sign is completed alone")
    func equalsSign() {
        let request = CompletionRequest(["continue", "--app=org.ex"])
        #expect((request.prefix, request.typed) == ("--app=", "org.ex"))
        #expect(
            CompletionCandidate("org.example.A", "")?.line(after: request.prefix) == "--app=org.example.A")
    }

    @Test("each verb completes its options, and none has a name that a shell would not take as it is")
    func all() {
        for verb in HandoffCommand.verbs {
            let options = CompletionRequest([verb.name, "-"]).options.map(\.value)
            #expect(options == verb.options.all.map { "--\($0.name)" })
            #expect(options.contains("--json"))
            #expect(CompletionCandidate(verb.name, verb.summary) != nil)
        }
    }

    @Test(
        "nothing that means something to a shell is a candidate",
        arguments: [
            "", "a b", "$(id)", "`id`", "a;b", "a&b", "a|b", "a>b", "~", "a'b", "a\"b", "a\\b", "a\nb",
            "a\tb", "*",
            "a?", "{a,b}", "!a", "#a", "ä", "a\u{202E}b", "=a", ":files",
        ])
    func harmful(_ value: String) { #expect(CompletionCandidate(value, "") == nil) }

    @Test("a description stays on its line, and is not long")
    func descriptions() throws {
        let candidate = try #require(
            CompletionCandidate("a", "one\ntwo\tthree\u{1B}[2J" + String(repeating: "x", count: 300)))
        #expect(candidate.line(after: "").filter { $0 == "\t" || $0.isNewline || $0 == "\u{1B}" } == "\t")
        #expect(candidate.description.count <= 60)
    }

    private static func device(
        _ digit: String, _ name: String, _ more: [String: Value] = ["Paired": .boolean(true)]
    ) -> KnownDevice {
        let id = String(repeating: digit, count: 64)
        return KnownDevice(
            "/org/example/Handoff/Bridge/devices/x", id: id,
            ["Name": .string(name)].merging(more) { $1 })
    }

    @Test("an introduced device can be paired by its id, and what can be declined is completed by name")
    func introduced() {
        let ids: Value = .strings([String(repeating: "1", count: 64)])
        let devices = [
            Self.device("1", "lap"),
            Self.device("2", "pad", ["IntroducedBy": ids, "IntroductionState": .string("offered")]),
            Self.device("3", "old", ["Paired": .boolean(true), "RetractedBy": ids]),
            Self.device("4", "tv", ["IntroducedBy": ids, "IntroductionState": .string("declined")]),
        ]
        #expect(
            devices.strangers[1] == CompletionCandidate("22222222", "introduced: “pad”"))
        let candidates = devices.candidates(where: \.canBeDeclined)
        #expect(candidates.map(\.value) == ["pad", "old"])
        #expect(candidates[0].description == "introduced by “lap”, not accepted here")
    }

    @Test("a peer is completed by its name if that is a plain word of its own, else by its id")
    func peers() {
        let names = ["lap", "$(id)", "-x", "abc", "twin", "twin", "two words", ""]
        let devices = zip("12345678", names).map { Self.device(String($0), $1) }
        #expect(
            devices.candidates.map(\.value) == [
                "lap", "22222222", "33333333", "44444444", "55555555", "66666666", "77777777", "88888888",
            ])
        #expect(devices.strangers.map(\.value).allSatisfy { $0.allSatisfy(\.isHexDigit) })
    }

    @Test("a device nearby is completed by its addresses, whatever it calls itself")
    func nearby() {
        let devices = [
            NearbyDevice(name: "$(id)", addresses: ["10.0.0.1:4", "[fe80::1%2]:4", "$(id):4", "-x", "a b"])
        ]
        #expect(devices.candidates.map(\.value) == ["10.0.0.1:4", "[fe80::1%2]:4"])
    }

    @Test("what the shell completes itself is said by a directive")
    func directives() {
        #expect(Completion.allCases.compactMap(\.directive) == [":hosts", ":files", ":folders", ":commands"])
    }
}
