// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import HandoffCore
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("Which documents are opened")
struct DocumentKindTests {
    /// A database of kinds like the one that is installed, but always the same.
    private func types() throws -> (types: ContentTypes, folder: TemporaryDirectory) {
        let folder = try TemporaryDirectory()
        try folder.write(
            """
            application/x-shellscript application/x-executable
            text/x-python application/x-executable
            application/json application/javascript
            application/javascript application/x-executable
            image/svg+xml application/xml
            application/xml text/plain
            audio/x-vorbis+ogg application/ogg
            application/x-theme application/x-desktop

            """, to: "mime/subclasses")
        return (ContentTypes(folders: [folder.path("")]), folder)
    }

    @Test(
        "a document whose name and content agree is opened by its name; an unknown name counts for nothing",
        arguments: [
            ("text/plain", "text/plain", "text/plain"), ("text/markdown", "text/html", "text/markdown"),
            ("image/png", "image/jpeg", "image/png"), ("audio/mp4", "video/mp4", "audio/mp4"),
            ("image/svg+xml", "text/plain", "image/svg+xml"),
            (
                "application/vnd.oasis.opendocument.text", "application/zip",
                "application/vnd.oasis.opendocument.text"
            ),
            ("application/msword", "application/x-ole-storage", "application/msword"),
            ("text/plain", "application/x-zerosize", "text/plain"),
            ("application/pdf", "application/octet-stream", "application/pdf"),
            ("application/octet-stream", "application/pdf", "application/pdf"),
            ("application/json", "application/json", "application/json"),
            ("audio/x-vorbis+ogg", "application/ogg", "audio/x-vorbis+ogg"),
        ])
    func opened(name: String, content: String, type: String) throws {
        let (types, folder) = try types()
        #expect(try DocumentKind(byName: name, byContent: content).opened(types) == type)
        withExtendedLifetime(folder) {}
    }

    @Test(
        "a program, a script or a desktop entry is not opened, whatever it is called; neither is what pretends",
        arguments: [
            ("application/x-shellscript", "text/plain"), ("text/plain", "application/x-shellscript"),
            ("application/x-desktop", "text/plain"), ("text/plain", "application/x-desktop"),
            ("application/x-theme", "text/plain"), ("text/x-python", "text/plain"),
            ("application/octet-stream", "application/x-executable"),
            ("image/png", "application/x-executable"),
            ("application/x-ms-dos-executable", "application/octet-stream"),
            ("application/java-archive", "application/zip"), ("application/vnd.flatpak.ref", "text/plain"),
            ("text/tcl", "text/plain"), ("text/vbscript", "text/plain"),
            ("application/x-mswinurl", "text/plain"),
            ("application/x-cd-image", "application/octet-stream"),
            ("application/x-raw-disk-image", "application/octet-stream"),
            ("application/vnd.openofficeorg.extension", "application/zip"),
            ("application/x-wine-extension-msp", "text/plain"),
            ("image/png", "application/pdf"), ("text/plain", "application/pdf"), ("image/png", "text/html"),
            ("application/pdf", "text/html"), ("image/png", "application/zip"),
        ])
    func refused(name: String, content: String) throws {
        let (types, folder) = try types()
        #expect(
            failure { _ = try DocumentKind(byName: name, byContent: content).opened(types) }?.code
                == .noApplication)
        withExtendedLifetime(folder) {}
    }

    @Test("the first bytes count, also where no database says what they mean")
    func marked() throws {
        let (types, folder) = try types()
        for bytes in [Array("#!/bin/sh\n".utf8), [0x7F] + Array("ELF".utf8) + [2, 1, 1]] {
            #expect(failure { _ = try DocumentKind(name: "Letter.txt", bytes: bytes).opened(types) } != nil)
        }
        withExtendedLifetime(folder) {}
    }

    @Test("what is not a regular file is not looked at, and keeps nobody waiting")
    func others() throws {
        let folder = try TemporaryDirectory()
        try folder.write("x", to: "file")
        symlink(folder.path("file"), folder.path("link"))
        mkfifo(folder.path("pipe"), 0o600)
        for name in ["link", "pipe", "missing", ""] {
            #expect(failure { _ = try DocumentKind(of: folder.path(name)) }?.code == .accessDenied)
        }
        #expect(failure { _ = try DocumentKind(of: folder.path("file")) } == nil)
    }
}
