// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Glibc
import HandoffCore
import HandoffInterfaces
import Testing

@Suite("What is in a clipboard")
struct ClipboardContentTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2]

    private func code(_ body: () throws -> Void) -> HandoffFailure.Code? {
        do { try body() } catch { return (error as? HandoffFailure)?.code }
        return nil
    }

    private func content(_ parts: [(String, [UInt8])]) throws -> ClipboardContent {
        try ClipboardContent(
            parts.map { ($0.0, UInt64($0.1.count)) }, try ClipboardFile(parts.flatMap(\.1)))
    }

    @Test("its parts are had one by one, and crossing a bus they stay as they are")
    func parts() throws {
        let content = try content([
            ("text/plain", Array("Größe".utf8)), ("x/unknown", [9, 9, 9]), ("image/png", Self.png),
        ])
        #expect(content.kinds == [.text, .image])
        #expect(try content.file(of: .image)?.bytes() == Self.png)
        #expect(try content.only(.html) == nil)
        #expect(content.about["Characters"] == .uint64(5))
        let again = try ClipboardContent(content.contents, try content.file.handedOut())
        #expect(try again.file.bytes() == content.file.bytes() && again.parts == content.parts)
        let known = try #require(try content.checked())
        #expect(known.parts.map(\.type) == ["text/plain", "image/png"] && known.file.size == 7 + 10)
    }

    @Test(
        "text that is no UTF-8 and an image that is no PNG are left out; if nothing else is there, nothing is"
    )
    func unlike() throws {
        let mixed = try content([
            ("text/plain", [0xFF, 0xFE]), ("text/html", [0xFF]), ("image/png", [1, 2]),
        ])
        #expect(try mixed.checked()?.kinds == [.html])
        #expect(try content([("text/plain", [0xC3])]).checked() == nil)
        #expect(try content([("image/png", [])]).checked() == nil)
        #expect(try content([("text/plain", [])]).checked()?.kinds == [.text])
    }

    @Test("sizes that lie, no types, too many, twice the same, empty or long ones are refused")
    func broken() throws {
        let file = try ClipboardFile([1, 2, 3])
        let long = String(repeating: "a", count: 256)
        let many: [(String, UInt64)] = (1...17).map { ("t\($0)", $0 == 1 ? 3 : 0) }
        let wrong: [[(String, UInt64)]] = [
            [], [("a", 2)], [("a", 4)], [("a", 1), ("a", 2)], [("", 3)], [(long, 3)], many,
        ]
        for types in wrong {
            #expect(code { _ = try ClipboardContent(types, file) } == .invalidArguments, "\(types.count)")
        }
        let large: [[(String, UInt64)]] = [[("a", .max), ("b", 4)], [("a", 33 << 20)]]
        for types in large {
            #expect(code { _ = try ClipboardContent(types, file) } == .limitsExceeded)
        }
    }

    @Test("what others give has to be a file in memory that nobody can change")
    func given() throws {
        let folder = open("/", O_RDONLY | O_CLOEXEC)
        #expect(code { _ = try ClipboardFile(checking: FileDescriptor(owning: folder)) } == .invalidArguments)
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        #expect(code { _ = try ClipboardFile(checking: FileDescriptor(owning: null)) } == .invalidArguments)
        let file = try ClipboardFile([1, 2])
        let given = try file.handedOut().take()
        #expect(write(given, "x", 1) == -1)
        #expect(try ClipboardFile(checking: FileDescriptor(owning: given)).bytes() == [1, 2])
    }

    @Test("no more than 32 MiB are written")
    func large() throws {
        var writer = try ClipboardFile.Writer()
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        for _ in 0..<32 { try piece.withUnsafeBytes { try writer.append($0) } }
        var failure: HandoffFailure.Code?
        do { try piece.prefix(1).withUnsafeBytes { try writer.append($0) } } catch {
            failure = (error as? HandoffFailure)?.code
        }
        #expect(failure == .limitsExceeded)
        #expect(try writer.finish().size == 32 << 20)
    }

    @Test("a small answer has the bytes, a large one an id; what is missing or of another type is refused")
    func answers() throws {
        let id = try #require(ContinuationID(String(repeating: "a", count: 32)))
        let small = try content([("text/plain", [65])])
        let answer = try FetchedClipboard.answer(small, document: nil)
        guard case .here([65]) = try FetchedClipboard(answer).bytes else {
            throw HandoffFailure.clipboardEmpty
        }
        let large = try content([("image/png", Self.png + [UInt8](repeating: 0, count: 256 << 10))])
        guard case .document(id) = try FetchedClipboard(FetchedClipboard.answer(large, document: id)).bytes
        else {
            throw HandoffFailure.clipboardEmpty
        }
        for wrong: [String: Value] in [
            [:], ["Types": .strings(["a"]), "Sizes": .numbers([1])],
            ["Types": .strings(["a"]), "Sizes": .numbers([]), "Content": .bytes([])],
            ["Types": .string("a"), "Sizes": .numbers([1]), "Content": .bytes([1])],
            ["Types": .strings(["a"]), "Sizes": .numbers([1]), "Content": .string("x")],
            ["Types": .strings(["a"]), "Sizes": .numbers([1]), "Continuation": .string("../x")],
        ] {
            #expect(code { _ = try FetchedClipboard(wrong) } == .invalidArguments, "\(wrong.keys.sorted())")
        }
    }

    @Test("what a peer says of its clipboard is checked, and types that are not known are passed over")
    func announcements() throws {
        let said = try ClipboardNews.Announcement([
            "Types": .strings(["text/plain", "x/y", "image/png", "text/plain"]), "Age": .int64(1500),
            "Other": .byte(1),
        ])
        #expect(
            said
                == ClipboardNews.Announcement(
                    kinds: [.text, .image], age: .microseconds(1500), sent: nil))
        #expect(try ClipboardNews.Announcement(said.about) == said)
        // Whatever a peer says of it, an age is no number that is too large.
        for age in [Int64.min, -1, Int64.max] {
            #expect(try ClipboardNews.Announcement(["Age": .int64(age)]).about["Age"] != nil)
        }
        for wrong: [String: Value] in [
            ["Types": .string("text/plain")], ["Age": .uint64(1)], ["Sent": .int32(1)],
            ["Sent": .string("x")],
            ["Types": .strings((0..<17).map { "a/\($0)" })],
            ["Types": .strings([String(repeating: "a", count: 10_000)])],
        ] {
            #expect(code { _ = try ClipboardNews.Announcement(wrong) } == .invalidArguments)
        }
    }
}
