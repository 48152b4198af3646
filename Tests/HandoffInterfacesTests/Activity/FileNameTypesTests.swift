// SPDX-License-Identifier: LGPL-2.1-or-later
import CGio
import Platform
import TestSupport
import Testing

@testable import HandoffInterfaces

@Suite("Which names of files stand for which types")
struct FileNameTypesTests {
    private static let lines = """
        # comment
        50:text/plain:*.txt
        50:application/x-tar:*.tar
        50:application/gzip:*.gz
        50:application/x-compressed-tar:*.tar.gz
        60:text/x-c++src:*.C:cs
        50:text/x-csrc:*.c
        50:text/x-makefile:Makefile
        10:text/x-readme:README*
        50:video/x-anim:*.anim[1-9j]
        40:application/x-light:*.txt
        nonsense
        x:text/a:*.a
        50:no type:*.b
        50:text/d:

        """

    @Test(
        "whole names come first, then the longest ending, then other patterns; the heavier counts",
        arguments: [
            ("a.txt", "text/plain"), ("A.TXT", "text/plain"), ("/home/me/a.b.txt", "text/plain"),
            ("a.tar.gz", "application/x-compressed-tar"), ("a.gz", "application/gzip"),
            ("tar.gz", "application/gzip"), ("a.C", "text/x-c++src"), ("a.c", "text/x-csrc"),
            ("Makefile", "text/x-makefile"), ("makefile", "text/x-makefile"),
            ("readme.first", "text/x-readme"), ("README.txt", "text/plain"), ("a.anim3", "video/x-anim"),
            ("a.anim", "application/octet-stream"), ("a", "application/octet-stream"),
            ("", "application/octet-stream"), ("a.a", "application/octet-stream"),
            ("a.b", "application/octet-stream"), ("/home/", "inode/directory"), (".txt", "text/plain"),
        ])
    func types(_ name: String, _ type: String) {
        var names = FileNameTypes()
        names.add(Self.lines)
        #expect(names.type(of: Array(name.utf8)) == type)
    }

    @Test("what was read first takes precedence, and a name need not be text")
    func order() {
        var names = FileNameTypes()
        names.add("50:text/first:*.x\n")
        names.add("50:text/second:*.x\n60:text/heavier:*.y\n")
        #expect(names.type(of: Array("a.x".utf8)) == "text/first")
        #expect(names.type(of: [0xFF, 0xFE] + Array(".y".utf8)) == "text/heavier")
        #expect(FileNameTypes().type(of: Array("a.x".utf8)) == FileNameTypes.unknown)
    }

    @Test("a database without end is cut off, and one that is not there says nothing")
    func bounds() throws {
        let folder = try TemporaryDirectory()
        let many = (0..<20_000).map { "50:text/x-\($0):*.e\($0)" }.joined(separator: "\n")
        var names = FileNameTypes()
        names.read(try folder.write(many, to: "globs2"))
        names.read(folder.path("absent"))
        #expect(names.type(of: Array("a.e16000".utf8)) == "text/x-16000")
        #expect(names.type(of: Array("a.e19999".utf8)) == FileNameTypes.unknown)
    }

    @Test("no pattern makes looking at a name take long")
    func patterns() {
        var names = FileNameTypes()
        names.add("50:text/x:" + String(repeating: "*a", count: 60) + "b\n50:text/y:*a*[b]\n")
        names.add("50:text/z:*" + String(repeating: "[", count: 100) + "*\n")
        for number in 0..<1000 {
            names.add("50:text/z:*[" + String(repeating: "c", count: 50) + "]*\(number)\n")
        }
        let begin = ContinuousClock.now
        let name = [UInt8](repeating: UInt8(ascii: "a"), count: 255)
        #expect(names.type(of: name) == FileNameTypes.unknown)
        #expect(names.type(of: name.dropLast() + Array("b".utf8)) == "text/y")
        #expect(ContinuousClock.now - begin < .milliseconds(100))
    }

    @Test("GIO says the same of the names that the system's database knows")
    func likeGIO() {
        var names = FileNameTypes()
        for folder in UserDirectories.allData { names.read("\(folder)/mime/globs2") }
        for name in [
            "a.txt", "a.PDF", "a.odt", "a.docx", "a.tar.gz", "a.tar.xz", "a.html", "a.py", "a.sh",
            "a.desktop",
            "a.jpeg", "a.so.1", "README", "Makefile", "CMakeLists.txt", "a.C", "a.c", "a.h", "a.svg", "a.exe",
            "a.jar", "a.deb", "a", "a.unknown", "core", "a~", "a.1", "001.vdr", "a.mp4", "a.flac", "a.json",
            "a.xml", "a.csv", "a.epub", "a.zip", "a.7z", "a.iso", "a.AppImage",
        ] {
            let guess = g_content_type_guess(name, nil, 0, nil)
            defer { g_free(guess) }
            #expect(names.type(of: Array(name.utf8)) == guess.map { String(cString: $0) }, "\(name)")
        }
    }
}
