// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import HandoffSession
import TestSupport
import Testing

@Suite("Desktop entries")
struct DeclaringEntryTests {
    private static let head = "[Desktop Entry]\nType=Application\n"
    private static let implements = head + "Implements=org.example.Handoff.Application;\n"

    private func entry(_ text: String, id: String = "com.example.notes") throws -> DeclaringEntry? {
        let directory = try TemporaryDirectory()
        return try DeclaringEntry.read(try directory.write(text, to: "entry.desktop"), id: id)
    }

    private func read(_ text: String) throws -> InstalledApplication? { try entry(text)?.application }

    @Test("all that an entry can say of Handoff is read")
    func full() throws {
        let application = try #require(
            try read(
                Self.implements + """
                    DBusActivatable=true
                    X-Handoff-ActivityTypes=com.example.notes.edit;com.example.notes.read;
                    X-Handoff-DocumentTypes=text/plain=com.example.notes.edit;
                    X-Handoff-Domains=www.example.com;*.example.org;
                    X-Handoff-Team=com.example
                    """))
        #expect(application.applicationID.description == "com.example.notes")
        #expect(application.team?.description == "com.example")
        let declaration = application.declaration
        #expect(
            declaration.activityTypes.map(\.description) == [
                "com.example.notes.edit", "com.example.notes.read",
            ])
        #expect(
            declaration.documentTypes.mapValues(\.description) == ["text/plain": "com.example.notes.edit"])
        #expect(declaration.domains == ["www.example.com", "*.example.org"])
    }

    @Test("all of it is read from the group with the name of the interface as well, wherever that stands")
    func group() throws {
        let details = """
            [org.example.Handoff.Application]
            ActivityTypes=com.example.notes.edit;com.example.notes.read;
            DocumentTypes=text/plain=com.example.notes.edit;
            Domains=www.example.com;*.example.org;
            Team=com.example
            Adapter=media
            OpensWith=mpv;vlc;
            Exec=flatpak run com.example.notes

            """
        for text in [Self.implements + "DBusActivatable=true\n" + details, details + Self.implements] {
            let application = try #require(try read(text))
            let declaration = application.declaration
            #expect(
                declaration.activityTypes.map(\.description) == [
                    "com.example.notes.edit", "com.example.notes.read",
                ])
            #expect(
                declaration.documentTypes.mapValues(\.description) == [
                    "text/plain": "com.example.notes.edit"
                ])
            #expect(declaration.domains == ["www.example.com", "*.example.org"])
            #expect(application.team?.description == "com.example")
            #expect(application.adapter?.description == "media" && application.opensWith == ["mpv", "vlc"])
        }
    }

    @Test("in an entry with that group, also an empty one, nothing of the keys in the main group counts")
    func groupAlone() throws {
        let keys = """
            X-Handoff-ActivityTypes=a.b
            X-Handoff-DocumentTypes=text/plain=a.b;
            X-Handoff-Domains=www.example.com
            X-Handoff-Team=com.example
            X-Handoff-Adapter=media
            X-Handoff-OpensWith=mpv
            [org.example.Handoff.Application]

            """
        let empty = try #require(try read(Self.implements + keys))
        #expect(empty.declaration == Declaration() && empty.team == nil && empty.adapter == nil)
        #expect(empty.opensWith.isEmpty)
        let other = try #require(try read(Self.implements + keys + "ActivityTypes=c.d\n"))
        #expect(other.declaration.activityTypes.map(\.description) == ["c.d"])
        #expect(other.declaration.documentTypes.isEmpty && other.team == nil)
    }

    @Test("keys in the main group that do not count are complained of, with the file and what to do")
    func complaint() throws {
        let group = "[org.example.Handoff.Application]\n"
        for text in ["X-Handoff-Team=a.b\n", group, "X-Other=a\n" + group] {
            #expect(try #require(try entry(Self.implements + text)).complaint == nil)
        }
        let both = try #require(try entry(Self.implements + "X-Handoff-Team=a.b\n" + group))
        let complaint = try #require(both.complaint)
        for text in ["/entry.desktop: X-Handoff-Team", "[org.example.Handoff.Application]", "remove them"] {
            #expect(complaint.contains(text))
        }
    }

    @Test("an entry says which Flatpak or snap it is from")
    func package() throws {
        #expect(try read(Self.implements)?.package == nil)
        #expect(try read(Self.implements + "X-Flatpak=org.office\n")?.package == .flatpak("org.office"))
        #expect(try read(Self.implements + "X-SnapInstanceName=notes\n")?.package == .snap("notes"))
    }

    @Test("an entry says which adapter it belongs to; one that names none is that of an application itself")
    func adapter() throws {
        #expect(try #require(try read(Self.implements)).adapter == nil)
        #expect(try read(Self.implements + "X-Handoff-Adapter=media\n")?.adapter?.description == "media")
    }

    @Test(
        "an entry with a name that no adapter can have is refused", arguments: ["", "a b", "a;", "ä", "a/b"])
    func adapterName(_ name: String) throws {
        #expect(throws: HandoffFailure.self) {
            try read(Self.implements + "X-Handoff-Adapter=\(name)\n")
        }
    }

    @Test("without any of it, the application takes part without types")
    func bare() throws {
        let application = try #require(try read(Self.implements))
        #expect(application.team == nil)
        #expect(application.declaration == Declaration())
    }

    @Test(
        "entries that have nothing to do with Handoff are none",
        arguments: [
            "", head, head + "Implements=org.example.Other;\n",
            head + "Comment=org.example.Handoff.Application\n",
            head + "Implements=org.example.Handoff.ApplicationX;\n", implements + "Hidden=true\n",
            "[Desktop Entry]\nType=Link\nImplements=org.example.Handoff.Application;\n",
            "[Other]\nType=Application\nImplements=org.example.Handoff.Application;\n",
            head + "[org.example.Handoff.Application]\nActivityTypes=a.b\n",
        ])
    func none(_ text: String) throws {
        #expect(try read(text) == nil)
    }

    @Test(
        "an entry that is not what it should be is refused as a whole",
        arguments: [
            implements + "\u{0}", implements + "no key file",
            implements + "DBusActivatable=perhaps\n", implements + "X-Handoff-ActivityTypes=;\n",
            implements + "X-Handoff-ActivityTypes=" + String(repeating: "a.b;", count: 257) + "\n",
            implements + "X-Handoff-DocumentTypes=text/plain;\n",
            implements + "X-Handoff-DocumentTypes=text=a.b;\n",
            implements + "X-Handoff-DocumentTypes=text/plain=;\n",
            implements + "X-Handoff-Domains=localhost;\n", implements + "X-Handoff-Team=.a\n",
            implements + "X-Flatpak=com.example.notes\nX-Handoff-Team=com.example\n",
            implements + "X-SnapInstanceName=notes\nX-Handoff-Team=com.example\n",
            implements + "X-Flatpak=com.example.notes\n[org.example.Handoff.Application]\nTeam=com.example\n",
            implements + "[org.example.Handoff.Application]\nActivityTypes=;\n",
        ])
    func refused(_ text: String) {
        #expect(throws: (any Error).self) { _ = try read(text) }
    }

    @Test("an application of a sandbox may name the team that it could claim there")
    func sandboxed() throws {
        let text = Self.implements + "X-Flatpak=com.example.notes\nX-Handoff-Team=com.example.notes\n"
        #expect(try read(text)?.team?.description == "com.example.notes")
    }

    @Test("a file that is missing is none, and one that is too long is refused")
    func files() throws {
        let directory = try TemporaryDirectory()
        #expect(try DeclaringEntry.read(directory.path("absent.desktop"), id: "a") == nil)
        let comment = "# " + String(repeating: "x", count: DesktopEntry.maximumSize)
        #expect(throws: (any Error).self) { _ = try read(Self.implements + comment) }
    }
}
