// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import Platform
import TestSupport
import Testing

@Suite("Key files")
struct KeyFileTests {
    @Test("values are read as they were set, whatever is in them")
    func roundTrip() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("a/b/file")
        let file = KeyFile()
        file.set("Text", in: "One", to: " [x]\n\\;ü")
        file.set("Number", in: "One", to: Int64.min)
        file.set("Yes", in: "Two words", to: true)
        file.set("List", in: "Two words", to: ["a;b", "", "c"])
        file.set("None", in: "Two words", to: [String]())
        try file.save(to: path)
        let again = try #require(try KeyFile.load(path))
        #expect(again.groups == ["One", "Two words"])
        #expect(again.keys(in: "Two words") == ["Yes", "List", "None"])
        #expect(try again.string("Text", in: "One") == " [x]\n\\;ü")
        #expect(try again.integer("Number", in: "One") == Int64.min)
        #expect(try again.boolean("Yes", in: "Two words") == true)
        #expect(try again.strings("List", in: "Two words") == ["a;b", "", "c"])
        #expect(try again.strings("None", in: "Two words") == [])
        #expect(try again.string("Absent", in: "One") == nil)
        #expect(try again.boolean("Absent", in: "Absent") == nil)
        #expect(again.keys(in: "Absent") == [])
        let manager = FileManager.default
        #expect(try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let folder = directory.path("a/b")
        #expect(try manager.attributesOfItem(atPath: folder)[.posixPermissions] as? Int == 0o700)
        #expect(try manager.contentsOfDirectory(atPath: folder) == ["file"])
    }

    @Test(
        "an absent file is none, and what is no key file is damage",
        arguments: ["x", "[a", "[a]\nb", "=\n", "\0"])
    func damage(text: String) throws {
        let directory = try TemporaryDirectory()
        #expect(try KeyFile.load(directory.path("absent")) == nil)
        let path = try directory.write(text, to: "file")
        let error = #expect(throws: KeyFileError.self) { _ = try KeyFile.load(path) }
        #expect(error?.isDamage == true)
        #expect(error?.description.contains(path) == true)
    }

    @Test("a value of another kind is an error that names file, group and key")
    func types() throws {
        let file = try KeyFile(text: "[Group]\nKey=abc\n", name: "/some/file")
        let error = #expect(throws: KeyFileError.self) { _ = try file.integer("Key", in: "Group") }
        for part in ["/some/file", "Group", "Key"] { #expect(error?.description.contains(part) == true) }
        #expect(throws: KeyFileError.self) { _ = try file.boolean("Key", in: "Group") }
    }

    @Test(
        "a backslash that begins no escape sequence is an error, however many there are",
        arguments: ["\\z", "x\\", "\\=[\\", "\\z\\y\\"])
    func escapes(value: String) throws {
        let file = try KeyFile(text: "[Group]\nKey=\(value)\nOther=\\s\\n\\t\\r\\\\\n")
        #expect(throws: KeyFileError.self) { _ = try file.string("Key", in: "Group") }
        #expect(throws: KeyFileError.self) { _ = try file.strings("Key", in: "Group") }
        #expect(try file.string("Other", in: "Group") == " \n\t\r\\")
    }

    @Test("groups that come twice are told")
    func repeated() throws {
        #expect(try KeyFile(text: "[A]\nx=1\n[B]\n[A]\nx=2\n").hasRepeatedGroups)
        #expect(try !KeyFile(text: "[A]\nx=[A]\n[B]\n").hasRepeatedGroups)
        // GKeyFile skips the space around a header, and ends lines at nothing but a line feed.
        #expect(try KeyFile(text: "[A]\n\t[A]\n").hasRepeatedGroups)
        #expect(try KeyFile(text: "[A]\n[A] \r\n").hasRepeatedGroups)
        #expect(try !KeyFile(text: "[A]\nx=1\u{2028}[A]\n").hasRepeatedGroups)
    }

    @Test("comments and what is not known stay when a value is changed")
    func comments() throws {
        let file = try KeyFile(text: "# Mine\n[A]\nOther=1\n\n[B]\n# Why\nKey=1\n")
        file.set("Key", in: "B", to: "2")
        #expect(file.text.contains("# Mine") && file.text.contains("# Why") && file.text.contains("Key=2"))
        #expect(file.text.contains("Other=1"))
    }

    @Test("a key that stands there several times is gone once it is removed")
    func removedWholly() throws {
        let file = try KeyFile(text: "# Mine\n[A]\nKey=1\nOther=1\nKey=2\n[B]\nKey=3\n[A]\nKey=4\n")
        file.removeKey("Key", in: "A")
        #expect(try KeyFile(text: file.text).string("Key", in: "A") == nil)
        #expect(try file.string("Key", in: "B") == "3" && file.string("Other", in: "A") == "1")
        #expect(file.text.contains("# Mine"))
    }

    @Test("nothing is written that nobody would read again for its length, and what was there stays")
    func tooLong() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("[A]\nKey=1\n", to: "file")
        let file = try #require(try KeyFile.load(path))
        file.set("Key", in: "A", to: String(repeating: "x", count: KeyFile.defaultMaximumSize))
        #expect(throws: KeyFileError.self) { try file.save(to: path) }
        #expect(try KeyFile.load(path)?.string("Key", in: "A") == "1")
    }

    @Test("settings behind a link, or a folder that is one, to something that is not there are not missing")
    func dangling() throws {
        let directory = try TemporaryDirectory()
        symlink("away", directory.path("file"))
        symlink("away", directory.path("folder"))
        for name in ["file", "folder/file", "folder/other/file"] {
            let error = #expect(throws: KeyFileError.self) { _ = try KeyFile.settings(directory.path(name)) }
            #expect(error?.isDamage == false)
        }
        for name in ["none", "none/file"] { #expect(try KeyFile.settings(directory.path(name)).groups == []) }
    }

    @Test("a file is read up to a size, and nothing that is no regular file")
    func sizes() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("12345", to: "file")
        #expect(try SmallFile.read(path, maximumSize: 5) == Array("12345".utf8))
        #expect(throws: KeyFileError.self) { _ = try SmallFile.read(path, maximumSize: 4) }
        #expect(mkfifo(directory.path("pipe"), 0o600) == 0)
        for name in ["pipe", "."] {
            #expect(throws: KeyFileError.self) {
                _ = try SmallFile.read(directory.path(name), maximumSize: 5)
            }
        }
        #expect(throws: KeyFileError.self) { _ = try SmallFile.read("/dev/zero", maximumSize: 5) }
        try SmallFile.write([], to: path)
        #expect(try SmallFile.read(path, maximumSize: 5) == [])
        let error = #expect(throws: KeyFileError.self) { try SmallFile.write([], to: "\(path)/below") }
        #expect(error?.isDamage == false)
    }

    @Test("what is saved again has lost neither comments nor translations")
    func nothingIsLost() throws {
        let text = "# Why.\n[Group]\n# How.\nKey=one\nKey[de]=eins\nKey[xx_YY]=?\n"
        let file = try KeyFile(text: text)
        file.set("Other", in: "Group", to: true)
        for line in text.split(separator: "\n") { #expect(file.text.contains(line)) }
        #expect(try file.string("Key", in: "Group") == "one")
    }
}
