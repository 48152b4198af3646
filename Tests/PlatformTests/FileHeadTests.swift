// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import Platform
import TestSupport
import Testing

@Suite("the head of a file")
struct FileHeadTests {
    @Test("is its first bytes, with its name and whether it can be executed")
    func bytes() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write("OggS and more", to: "a film.ogg")
        let head = try FileHead(of: path, count: 4)
        #expect(head.name == "a film.ogg" && head.bytes == Array("OggS".utf8) && !head.isExecutable)
        #expect(chmod(path, 0o700) == 0)
        let whole = try FileHead(of: path, count: 4096)
        #expect(whole.bytes == Array("OggS and more".utf8) && whole.isExecutable)
    }

    @Test("of what is no regular file is not waited for, and says what is wrong")
    func others() throws {
        let folder = try TemporaryDirectory()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        for name in ["pipe", "."] {
            let error = #expect(throws: FileHead.Failure.self) {
                try FileHead(of: folder.path(name), count: 16)
            }
            #expect(error?.reason == "it is not a regular file")
        }
        #expect(throws: FileHead.Failure.self) { try FileHead(of: folder.path("missing"), count: 16) }
    }

    @Test("is read through a link only if that is meant")
    func links() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write("text", to: "file")
        #expect(symlink(path, folder.path("link")) == 0)
        #expect(try FileHead(of: folder.path("link"), count: 2).bytes == Array("te".utf8))
        #expect(throws: FileHead.Failure.self) {
            try FileHead(of: folder.path("link"), count: 2, followsLinks: false)
        }
    }
}
