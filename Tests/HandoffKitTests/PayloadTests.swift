// SPDX-License-Identifier: LGPL-2.1-or-later
import FoundationEssentials
import HandoffKit
import HandoffTesting
import Testing

/// Typed payloads of rule R1.
@MainActor @Suite("Typed payloads")
struct PayloadTests {
    struct Note: Codable, Equatable {
        enum Kind: Codable, Equatable {
            case plain
            case coloured(red: Int, green: Int)
        }
        struct Part: Codable, Equatable {
            var text: String
            var marks: [Int?] = []
        }

        var text = "Milk"
        var date = Date(timeIntervalSince1970: 1_700_000_000.25)
        var page: URL? = URL(string: "https://example.org/?a=b")
        var image = Data([0, 1, 255])
        var tags: Set<String> = ["shop", "home"]
        var days: Set<Date> = [Date(timeIntervalSince1970: 0)]
        var missing: Int?
        var big = Int64.max
        var bigger = UInt64.max
        var small = Int8.min
        var half: Float = 0.5
        var ratio = 1.0 / 3
        var isDone = true
        var kind = Kind.coloured(red: 3, green: -4)
        var parts = [Part(text: "a", marks: [1, nil, 3]), Part(text: "b")]
        var counts = ["x": 1, "y": 2]
    }

    let activity = UserActivity(activityType: edit, application: nil)

    @Test("dates, URLs, data, sets, nil and 64-bit integers keep their types")
    func types() throws {
        let note = Note()
        try activity.setTypedPayload(note)
        #expect(try activity.typedPayload(Note.self) == note)
        let info = activity.userInfo
        #expect(info["date"] == .date(note.date) && info["image"] == .data(note.image))
        #expect(info["page"] == .url(try #require(note.page)) && info["tags"] == .set(["shop", "home"]))
        #expect(
            info["big"] == .int64(.max) && info["bigger"] == .uint64(.max) && info["small"] == .int16(-128))
        #expect(info["missing"] == nil && info["isDone"] == true)
        #expect(
            info["parts"] == [["text": "a", "marks": [1, nil, 3]], ["text": "b", "marks": []]])
    }

    @Test("another payload takes the place of the one before, and of nothing else")
    func replacing() throws {
        var note = Note()
        activity.userInfo["own"] = 1
        try activity.setTypedPayload(note)
        note.page = nil
        note.kind = .plain
        try activity.setTypedPayload(note)
        #expect(try activity.typedPayload(Note.self) == note)
        #expect(activity.userInfo["own"] == 1 && activity.userInfo["page"] == nil)
    }

    @Test("what has no properties is a payload too")
    func single() throws {
        try activity.setTypedPayload([1, 2, 3])
        #expect(try activity.typedPayload([Int].self) == [1, 2, 3])
        let other = UserActivity(activityType: edit)
        try other.setTypedPayload("text")
        #expect(try other.typedPayload(String.self) == "text")
    }

    @Test("a payload that does not fit is an error that says where, never anything else")
    func hostile() throws {
        let hostile: [UserInfo] = [
            [:], ["text": 1], ["text": "a", "date": "yesterday"], ["text": "a", "date": .null],
            ["text": .dictionary([:])], ["kind": ["coloured": ["red": 99_999_999_999, "green": "x"]]],
        ]
        for info in hostile {
            activity.userInfo = info
            #expect(throws: HandoffError.self) { try activity.typedPayload(Note.self) }
        }
        struct Small: Codable { var number: Int8 }
        activity.userInfo = ["number": 128]
        let error = #expect(throws: HandoffError.self) { try activity.typedPayload(Small.self) }
        #expect(error?.code == .invalidArguments && error?.message.contains("number") == true)
    }

    @Test("a payload that contains itself, or is far too large, is refused before it takes much memory")
    func bounds() throws {
        final class Loop: Codable { var next: Loop? }
        let loop = Loop()
        loop.next = loop
        defer { loop.next = nil }
        #expect(throws: HandoffError.self) { try activity.setTypedPayload(loop) }
        let large = [String: Data](uniqueKeysWithValues: (0..<1000).map { ("\($0)", Data(count: 100_000)) })
        let error = #expect(throws: HandoffError.self) { try activity.setTypedPayload(large) }
        #expect(error?.code == .userInfoTooLarge && activity.userInfo.isEmpty)
    }

    @Test("a number is found whatever the width with which another language has sent it")
    func widths() throws {
        struct Numbers: Codable, Equatable {
            var count: Int
            var ratio: Double
            var bytes: [UInt8]
        }
        activity.userInfo = ["count": .int32(7), "ratio": .uint16(2), "bytes": .data(Data([1, 2]))]
        #expect(try activity.typedPayload(Numbers.self) == Numbers(count: 7, ratio: 2, bytes: [1, 2]))
    }

    @Test("random payloads arrive as they left")
    func random() throws {
        struct Tree: Codable, Equatable {
            var name: String
            var number: UInt64
            var value: Double?
            var children: [Tree]

            static func random(_ depth: Int, using generator: inout some RandomNumberGenerator) -> Tree {
                Tree(
                    name: String(
                        (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                            "aé漢🎈".randomElement(using: &generator) ?? "-"
                        }),
                    number: .random(in: 0...UInt64.max, using: &generator),
                    value: Bool.random(using: &generator) ? .random(in: -1...1, using: &generator) : nil,
                    children: depth == 0
                        ? []
                        : (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                            random(depth - 1, using: &generator)
                        })
            }
        }
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let tree = Tree.random(4, using: &generator)
            try activity.setTypedPayload(tree)
            #expect(try activity.typedPayload(Tree.self) == tree)
        }
    }
}
