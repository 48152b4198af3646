// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@testable import HandoffAssociations

@Suite("Association files")
struct AssociationFileTests {
    private func applications(_ text: String) -> [String]? {
        try? AssociationFile.applications(in: Array(text.utf8))
    }

    @Test("the list of activitycontinuation counts, whatever else is in the file")
    func list() {
        #expect(applications(#"{"activitycontinuation": {"apps": ["T.a", "T.b"]}}"#) == ["T.a", "T.b"])
        #expect(
            applications(
                #" {"applinks":{"apps":[],"details":[{"x":[1]}]},"activitycontinuation":{"apps":["T.a"],"y":1}}"#
            )
                == ["T.a"])
        #expect(applications(#"{"activitycontinuation": {"apps": []}}"#) == [])
        #expect(
            applications(#"{"activitycontinuation": {"apps": [1, null, {}, ["T.b"], "T.a", true]}}"#) == [
                "T.a"
            ])
        #expect(applications(#"{"activitycontinuation": {"apps": ["\u0054.a"]}}"#) == ["T.a"])
    }

    @Test(
        "files of the wrong type or shape name nobody",
        arguments: [
            "", " ", "[]", "1", "null", "\"x\"", "{", "{}", "<html></html>", #"{"activitycontinuation": []}"#,
            #"{"activitycontinuation": {"apps": "T.a"}}"#,
            #"{"activitycontinuation": {"apps": {"0": "T.a"}}}"#,
            #"{"activitycontinuation": {"apps": ["T.a"]}"#, #"{"activitycontinuation": {"apps": ["T.a"]}} x"#,
            #"{'activitycontinuation': {'apps': ['T.a']}}"#, #"{"applinks": {"apps": ["T.a"]}}"#,
            #"{"activitycontinuation": {"apps": null}}"#,
        ])
    func malformed(text: String) {
        #expect(applications(text) == nil)
    }

    @Test("what is nested 10,000 deep harms nobody, wherever it stands")
    func depth() {
        let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        #expect(applications(deep) == nil)
        #expect(applications("{\"x\": \(deep), \"activitycontinuation\": {\"apps\": [\"T.a\"]}}") == nil)
        #expect(applications("{\"activitycontinuation\": {\"apps\": [\(deep), \"T.a\"]}}") == nil)
        #expect(applications(String(repeating: "{\"a\":", count: 10_000)) == nil)
        #expect(applications(String(repeating: "[", count: 131_072)) == nil)
    }

    @Test(
        "any bytes are read without harm, and so is what is not a signature after all",
        arguments: UInt64(1)...200)
    func garbage(seed: UInt64) throws {
        var state = seed
        let host = try #require(WebHost("example.com"))
        var bytes = (0..<Int(seed * 7)).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        _ = try? AssociationFile.applications(in: bytes)
        if seed % 2 == 0 { bytes.insert(contentsOf: [0x30, 0x82, 0x04, 0x00, 0x06, 0x09], at: 0) }
        #expect(throws: UnusableFile.self) { try SignedFile.content(of: bytes, for: host) }
    }
}

@Suite("Asking a site")
struct SiteQuestionTests {
    private let host: WebHost
    private static let file = Array(#"{"activitycontinuation": {"apps": ["T.a", "not one"]}}"#.utf8)
    private static let (first, second) = (
        "https://www.example.com/.well-known/apple-app-site-association",
        "https://www.example.com/apple-app-site-association"
    )

    init() throws { host = try #require(WebHost("www.example.com")) }

    /// The answer to a site that has this in its two places, and which of them were looked into.
    private func ask(
        _ contents: SiteQuestion.Fetched...
    ) -> (answer: SiteAnswer, reason: String?, addresses: [String]) {
        var addresses: [String] = []
        let (answer, reason) = SiteQuestion.ask(host) {
            addresses.append($0)
            return contents[addresses.count - 1]
        }
        return (answer, reason, addresses)
    }

    @Test("the first place counts, and the second if nothing is in the first")
    func places() {
        let one = ask(.file(Self.file))
        #expect(one.answer == .approved(["T.a"]) && one.addresses == [Self.first] && one.reason == nil)
        for missing in [SiteQuestion.Fetched.absent(reason: "none"), .refused(reason: "redirect")] {
            let other = ask(missing, .file(Self.file))
            #expect(other.answer == .approved(["T.a"]) && other.addresses == [Self.first, Self.second])
        }
    }

    @Test("a site with no file in either place approves of nothing; one that refuses may do so another time")
    func missing() {
        let (answer, reason, _) = ask(.absent(reason: "none"), .absent(reason: "gone"))
        #expect(answer == .nothing)
        #expect(reason?.contains("none") == true && reason?.contains("gone") == true)
        #expect(ask(.absent(reason: ""), .refused(reason: "")).answer == .failed)
        #expect(ask(.refused(reason: ""), .absent(reason: "")).answer == .failed)
    }

    @Test("a site that cannot be asked is not asked a second time")
    func unreachable() {
        let one = ask(.unreachable(reason: "silence"))
        #expect(one.answer == .failed && one.addresses == [Self.first])
        #expect(ask(.absent(reason: ""), .unreachable(reason: "")).answer == .failed)
    }

    @Test(
        "a file that is too long, of the wrong type or badly signed approves of nothing, and the second place does not count"
    )
    func unusable() {
        for content in [
            SiteQuestion.Fetched.tooLong, .file([]), .file([0x30, 0x00]), .file(Array("<html>".utf8)),
        ] {
            let one = ask(content)
            #expect(one.answer == .nothing && one.addresses == [Self.first])
            #expect(one.reason?.contains(Self.first) == true)
        }
    }
}
