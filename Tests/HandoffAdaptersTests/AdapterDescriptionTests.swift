// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffAdapters
import HandoffCore
import Platform
import Testing

@Suite("The description of an adapter")
struct AdapterDescriptionTests {
    static let whole = """
        [Adapter]
        Name=Media players
        Name[xx]=Something else
        BusName=org.example.Handoff.Media
        Applications=mpv;org.videolan.VLC;
        Names=org.mpris.MediaPlayer2.*;
        """

    private func description(_ text: String) throws -> AdapterDescription {
        try AdapterDescription(AdapterName("media"), KeyFile(text: text))
    }

    @Test("a description says what its keys say")
    func aDescriptionSaysWhat() throws {
        let description = try description(Self.whole)
        #expect(description.title == "Media players")
        #expect(description.busName == "org.example.Handoff.Media")
        #expect(description.applications.map(\.description) == ["mpv", "org.videolan.VLC"])
        #expect(description.names.map { $0.matches("org.mpris.MediaPlayer2.mpv") } == [true])
    }

    @Test("names that are excepted do not count")
    func namesThatAreExcepted() throws {
        let exceptions = "Except=org.mpris.MediaPlayer2.firefox.*;org.mpris.MediaPlayer2.chromium;\n"
        let description = try description(Self.whole + "\n" + exceptions)
        #expect(description.counts("org.mpris.MediaPlayer2.mpv"))
        #expect(description.counts("org.mpris.MediaPlayer2.chromium2"))
        #expect(!description.counts("org.mpris.MediaPlayer2.chromium"))
        #expect(!description.counts("org.mpris.MediaPlayer2.firefox.instance_1_23"))
        #expect(!description.counts("com.example.other"))
    }

    @Test("the description for media counts players, and no browsers")
    func theDescriptionForMedia() throws {
        let path = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let bytes = try #require(
            try SmallFile.read("/\(path)/data/adapters/media.adapter.in", maximumSize: 8 << 10))
        let parts = String(decoding: bytes, as: UTF8.self).split(
            separator: "@app_id@", omittingEmptySubsequences: false)
        let file = try KeyFile(text: parts.joined(separator: Vendor.applicationID), name: "media.adapter")
        let description = try AdapterDescription(AdapterName("media"), file)
        for name in ["mpv", "vlc.instance12", "chromecast"] {
            #expect(description.counts("org.mpris.MediaPlayer2.\(name)"))
        }
        for name in [
            "firefox.instance_1_23", "chromium.instance12", "chrome", "plasma-browser-integration", "brave.x",
            "edge", "vivaldi", "opera", "epiphany",
        ] {
            #expect(!description.counts("org.mpris.MediaPlayer2.\(name)"))
        }
    }

    @Test("without a bus name and names something else starts it")
    func withoutABusName() throws {
        let description = try description("[Adapter]\nName=x\nApplications=firefox;\nOther=1\n")
        #expect(description.busName == nil && description.names.isEmpty)
    }

    @Test(
        "what is not what it should be is refused",
        arguments: [
            "", "[Adapter]\nApplications=a;\n", "[Adapter]\nName=x\n", "[Adapter]\nName= \nApplications=a;\n",
            "[Adapter]\nName=x\nApplications=../a;\n", "[Adapter]\nName=x\nApplications=a;\nBusName=:1.4\n",
            "[Adapter]\nName=x\nApplications=a;\nBusName=nodots\n",
            "[Adapter]\nName=x\nApplications=a;\nNames=*;\n",
            "[Adapter]\nName=x\nApplications=a;\nExcept=*;\n",
            "[Adapter]\nName=x\nApplications=a;\nExcept=\(String(repeating: "a.b;", count: 33))\n",
            "[Adapter]\nName=x\nApplications=\(String(repeating: "a;", count: 65))\n",
            "[Adapter]\nName=x\nApplications=a;\nNames=\(String(repeating: "a.b;", count: 17))\n",
        ])
    func whatIsNotWhat(_ text: String) {
        #expect(throws: (any Error).self) { try description(text) }
    }

    @Test("a title is cut to what can be shown")
    func aTitleIsCut() throws {
        let description = try description(
            "[Adapter]\nName=\(String(repeating: "x", count: 1000))\nApplications=a;\n")
        #expect(description.title.count <= 256)
    }
}

@Suite("Bus names that begin alike")
struct BusNamePatternTests {
    @Test(
        "a pattern is a name or how names begin",
        arguments: [
            ("org.gnome.Nautilus", "org.gnome.Nautilus", true),
            ("org.gnome.Nautilus", "org.gnome.Nautilus2", false),
            ("org.mpris.MediaPlayer2.*", "org.mpris.MediaPlayer2.mpv", true),
            ("org.mpris.MediaPlayer2.*", "org.mpris.MediaPlayer2.mpv.instance1", true),
            ("org.mpris.MediaPlayer2.*", "org.mpris.MediaPlayer2", false),
            ("org.mpris.MediaPlayer2.*", "org.mpris.MediaPlayer22.mpv", false),
            ("org.kde.okular-*", "org.kde.okular-1234", true), ("org.kde.okular-*", "org.kde.okular", false),
            ("org.kde.okular-*", "org.kde.okular-", false),
        ])
    func aPatternIsA(_ text: String, _ name: String, _ isMatch: Bool) throws {
        #expect(try BusNamePattern(text).matches(name) == isMatch)
    }

    @Test(
        "the bus is asked for no more than that",
        arguments: [
            ("a.b", ",arg0='a.b'"), ("org.mpris.MediaPlayer2.*", ",arg0namespace='org.mpris.MediaPlayer2'"),
            ("org.kde.okular-*", ",arg0namespace='org.kde'"),
        ])
    func theBusIsAsked(_ text: String, _ end: String) throws {
        #expect(try BusNamePattern(text).rule.text.hasSuffix(end))
    }

    @Test(
        "nothing else is one",
        arguments: [
            "", "*", "a", "a*", "a.*", "a.b*", ":1.4", ":1.*", "a.b.*.c", "a..b", "a.b.'*", "a.b.*'",
            "a.b.**",
        ])
    func nothingElseIsOne(_ text: String) {
        #expect(throws: HandoffFailure.self) { try BusNamePattern(text) }
    }
}
