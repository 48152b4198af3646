// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import Platform
import TestSupport
import Testing

@Suite("Files that are found")
struct FoundFileTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        for name in ["inner", "inner/deep"] { mkdir(folder.path(name), 0o700) }
        for name in ["outside", "inner/inside", "inner/deep/below"] {
            let file = open(folder.path(name), O_CREAT | O_WRONLY, 0o600)
            #expect(write(file, name, name.utf8.count) == name.utf8.count)
            close(file)
        }
        for (name, target) in [
            ("within", "inside"), ("deeper", "deep/below"), ("up", "../outside"),
            ("around", "deep/../inside"),
            ("absolute", folder.path("inner/inside")), ("root", "/inside"), ("loop", "loop"),
        ] {
            symlink(target, folder.path("inner/" + name))
        }
    }

    /// What is in the file that is found; nil and the error number if none is.
    private func find(_ path: String, _ confinement: FoundFile.Confinement) -> (
        content: String?, error: Int32
    ) {
        let inner = open(folder.path("inner"), O_RDONLY | O_DIRECTORY)
        defer { close(inner) }
        let found = FoundFile.find(Array(path.utf8) + [0], in: inner, confinement)
        guard found >= 0 else { return (nil, errno) }
        defer { close(found) }
        var byte: UInt8 = 0
        #expect(read(found, &byte, 1) == -1 && errno == EBADF, "it can only be looked at")
        let file = FoundFile.open(found)
        guard file >= 0 else { return (nil, errno) }
        defer { close(file) }
        #expect(FoundFile.isKept(file) && !FoundFile.isRemote(file))
        var bytes = [UInt8](repeating: 0, count: 100)
        return (String(decoding: bytes[..<read(file, &bytes, 100)], as: UTF8.self), 0)
    }

    @Test(
        "beneath a folder, links are followed as long as they stay there",
        arguments: [
            ("inside", 0), ("within", 0), ("deeper", 0), ("around", 0), ("up", EXDEV), ("absolute", EXDEV),
            ("root", EXDEV), ("../outside", EXDEV), ("loop", ELOOP), ("missing", ENOENT),
        ])
    func beneath(name: String, error: Int32) {
        let found = find(name, .beneath)
        #expect(found.error == error)
        #expect((found.content != nil) == (error == 0))
    }

    @Test("with the folder as root, nothing leads out of it")
    func root() {
        #expect(find("/root", .root).content == "inner/inside")
        #expect(find("/../outside", .root).error == ENOENT)
        #expect(find("up", .root).error == ENOENT)
        #expect(find("/absolute", .root).error == ENOENT)
    }

    @Test("what belongs to the system is not kept")
    func system() {
        for path in ["/proc/version", "/sys/kernel/uevent_seqnum"] {
            let file = open(path, O_RDONLY)
            defer { close(file) }
            #expect(file < 0 || !FoundFile.isKept(file), "\(path)")
        }
    }

    @Test("a path without its zero is refused")
    func unterminated() {
        #expect(FoundFile.find(Array("x".utf8), in: AT_FDCWD, .none) == -1)
        #expect(FoundFile.find([], in: AT_FDCWD, .none) == -1)
    }
}
