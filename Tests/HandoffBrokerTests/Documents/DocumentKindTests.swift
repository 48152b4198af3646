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

    private static let programs: [(String, [UInt8])] = [
        ("script", Array("#!/usr/bin/env python3\nprint()\n".utf8)),
        ("ELF", [0x7F] + Array("ELF".utf8) + [2, 1, 1]),
        ("AppImage", [0x7F] + Array("ELF".utf8) + [2, 1, 1, 0, 0x41, 0x49, 2]),
        ("exe", Array("MZ".utf8) + [0x90, 0, 3, 0, 0, 0]),
        ("deb", Array("!<arch>\ndebian-binary   ".utf8)),
        ("rpm", [0xED, 0xAB, 0xEE, 0xDB, 3, 0]),
        ("snap", Array("hsqs".utf8) + [1, 0]),
        ("flatpak", Array("flatpak".utf8) + [0, 1]),
        ("flatpakref", Array("[Flatpak Ref]\nName=a\n".utf8)),
        ("jar", [0x50, 0x4B, 3, 4] + [UInt8](repeating: 0, count: 26) + Array("META-INF/MANIFEST.MF".utf8)),
        ("class", [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 0x34]),
        ("desktop", Array("\u{FEFF}# comment\n\n  [Desktop Entry]\nType=Application\n".utf8)),
        ("desktop in other letters", Array("[desktop entry]\r\n".utf8)),
        ("url", Array("[InternetShortcut]\r\nURL=file:///bin/sh\r\n".utf8)),
        ("lnk", [0x4C, 0, 0, 0, 1, 0x14, 2, 0, 0]),
    ]

    @Test("what programs, packages and desktop entries begin with counts, whatever they are called")
    func content() throws {
        let (types, folder) = try types()
        for (what, bytes) in Self.programs {
            for name in ["Letter.txt", "Letter.odt", "Letter", "photo.png"] {
                let failure = failure { _ = try DocumentKind(name: name, bytes: bytes).opened(types) }
                #expect(failure?.code == .noApplication, "\(what) as \(name)")
            }
        }
        withExtendedLifetime(folder) {}
    }

    @Test(
        "the ending of the name of a program, a package or a desktop entry counts, whatever is in it",
        arguments: [
            "a.desktop", "a.AppImage", "a.jar", "a.exe", "a.MSI", "a.deb", "a.rpm", "a.flatpakref",
            "a.flatpakrepo", "a.flatpak", "a.snap", "a.sh", "a.bat", "a.lnk", "a.url", "a.txt.desktop",
            "a.kdelnk", "a.rdp", "a.vnc", "a.vv", "a.remmina", "a.msc", "a.qcow2", "a.vdi", "a.vmdk", "a.vhd",
            "a.vhdx",
            "a.wim", "a.iso", "a.img", "a.img.xz", "a.dmg", "a.ova", "a.gem", "a.whl", "a.vsix", "a.egg",
            "a.ipa",
            "a.nupkg", "a.cab", "a.pkg", "a@b.shell-extension.zip", "a.plasmoid", "a.ovpn", "a.ica",
            "a.nmconnection",
            "a.mobileconfig", "a.pcf", "a.webloc", "a.inetloc", "a.website", "a.el", "a.R", "a.jl", "a.sed",
            "a.vim",
            "a.nu", "a.command", "a.com", "a.COM", "a.awk", "a.groovy", "a.cjs", "a.phar", "a.ps1", "a.theme",
            "a.scf", "a.settingcontent-ms", "a.hta", "a.xlam", "a.crx", "a.so",
        ])
    func names(_ name: String) {
        let none = ContentTypes(folders: [])
        let kind = DocumentKind(name: name, bytes: Array("harmless".utf8))
        #expect(failure { _ = try kind.opened(none) }?.code == .noApplication)
    }

    @Test(
        "a list of films or songs is not opened, and neither is a text that is called a film or a song",
        arguments: [
            ("video/vnd.mpegurl", "text/plain"), ("audio/x-mpegurl", "text/plain"),
            ("text/plain", "audio/x-scpls"),
            ("application/smil+xml", "application/xml"), ("application/xspf+xml", "application/xml"),
            ("video/x-ms-wvx", "application/octet-stream"), ("application/vnd.ms-wpl", "application/xml"),
            ("audio/x-list-of-mine", "application/octet-stream"), ("audio/x-text", "text/plain"),
            ("video/x-xml", "application/xml"), ("video/mp4", "image/svg+xml"), ("audio/mpeg", "text/html"),
        ])
    func lists(name: String, content: String) throws {
        let folder = try TemporaryDirectory()
        try folder.write(
            "audio/x-list-of-mine audio/x-scpls\naudio/x-text text/plain\nvideo/x-xml application/xml\n"
                + "video/vnd.mpegurl text/plain\nimage/svg+xml application/xml\n", to: "mime/subclasses")
        let types = ContentTypes(folders: [folder.path("")])
        #expect(
            failure { _ = try DocumentKind(byName: name, byContent: content).opened(types) }?.code
                == .noApplication)
    }

    private static let smil = "<!-- a --><smil><body><video src=\"http://127.0.0.1:9/a\"/></body></smil>"

    @Test(
        "by the types that names and contents have on this machine, no list, no text that is called a film, no image of a disk, package, extension, connection, shortcut or script is opened",
        arguments: [
            ("film.m4u", "http://127.0.0.1:9/a\n"), ("film.mxu", "http://127.0.0.1:9/a\n"),
            ("film.m1u", "/etc/passwd\n"), ("film.kino", "<?xml version=\"1.0\"?>" + Self.smil),
            ("film.smil", Self.smil),
            ("film.mp4", Self.smil), ("film.ogv", "http://127.0.0.1:9/a\n"),
            ("song.mp3", "#EXTM3U\n/etc/passwd\n"),
            ("song.wpl", "<smil>"), ("song.xspf", "<playlist>"),
            ("song.pls", "[playlist]\nFile1=/etc/passwd\n"),
            ("film.asx", "<asx>"), ("disk.qcow2", "QFI"), ("disk.vdi", "x"), ("a.gem", "x"),
            ("a.whl", "PK\u{3}\u{4}"),
            ("a.ovpn", "up x\n"), ("a@b.shell-extension.zip", "PK\u{3}\u{4}"), ("a.webloc", "<plist>"),
            ("a.el", "(shell)\n"), ("a.R", "system()\n"), ("a.command", "x\n"), ("example.com", "x"),
            ("Letter.sh", "#!/bin/sh\n"), ("Letter.txt", "[Desktop Entry]\nType=Application\n"),
            ("Letter.txt", "%PDF-1.7\n"), ("Letter.exe", "MZ"), ("Letter.AppImage", "x"),
        ])
    func onThisMachine(name: String, content: String) {
        let types = ContentTypes(folders: ["/usr/share"])
        let kind = DocumentKind(name: name, bytes: Array(content.utf8))
        #expect(failure { _ = try kind.opened(types) }?.code == .noApplication)
    }

    @Test("a file that may be executed is not opened, and the message says why")
    func executable() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write("text\n", to: "Letter.txt")
        #expect(try DocumentKind(of: path).mark == nil)
        for mode in [0o100, 0o010, 0o001] as [mode_t] {
            chmod(path, 0o600 | mode)
            let failure = failure { _ = try DocumentKind(of: path).opened(ContentTypes(folders: [])) }
            #expect(failure?.message.contains("marked as executable") == true)
        }
    }

    @Test("what only looks a little like a program is none")
    func harmless() {
        for (name, text) in [
            ("a.txt", "MZ is a country code"), ("a.txt", "# Title\n\nText"), ("a.ini", "[Desktop]\na=b\n"),
            ("sh", "text"), ("a.txt", "[1] a footnote"), ("a.txt", ""), ("a.html", "<html>"), ("a.", "text"),
        ] {
            #expect(DocumentKind(name: name, bytes: Array(text.utf8)).mark == nil, "\(text)")
        }
        // The first file in it is the one that says what it is.
        let text = [0x50, 0x4B, 3, 4] + [UInt8](repeating: 0, count: 26) + Array("mimetype".utf8)
        #expect(DocumentKind(name: "a.odt", bytes: text).mark == nil)
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
