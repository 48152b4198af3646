// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffCore
import Testing

@testable import HandoffAgent

@Suite("What a window on X11 says of itself")
struct X11WindowTests {
    private let classes: X11Classes

    init() throws {
        classes = X11Classes([
            (try ApplicationID("org.kde.okular"), nil), (try ApplicationID("vlc"), "VLC-Player"),
            (try ApplicationID("other"), "vlc"),
        ])
    }

    private func window(_ properties: [X11Window.Property: String], process: UInt32? = nil) -> FocusedWindow?
    {
        var bytes = properties.mapValues { Array($0.utf8) }
        if let process { bytes[.process] = withUnsafeBytes(of: process) { Array($0) } }
        return X11Window.described(by: bytes, classes, machine: "here")
    }

    @Test(
        "a window is of the application that it names, or else of the one whose class it has",
        arguments: [
            ([.gtkApplication: "org.gnome.Evince"], "org.gnome.Evince"),
            ([.desktopFile: "org.kde.kate"], "org.kde.kate"),
            ([.desktopFile: "org.kde.kate.desktop"], "org.kde.kate"),
            ([.desktopPath: "/usr/share/applications/mpv.desktop"], "mpv"),
            ([.gtkApplication: "../x", .desktopFile: "mpv"], "mpv"),
            ([.windowClass: "okular\0ORG.KDE.Okular\0"], "org.kde.okular"),
            ([.windowClass: "x\0vlc-player\0"], "vlc"), ([.windowClass: "vlc\0Unknown\0"], "vlc"),
            ([.gtkApplication: "a", .windowClass: "vlc\0vlc\0"], "a"),
        ] as [([X11Window.Property: String], String)])
    func aWindowIsOf(
        _ properties: [X11Window.Property: String], _ id: String
    ) {
        #expect(window(properties)?.application?.description == id)
    }

    @Test("processes of this machine count, and no others")
    func processesOfThisMachine() {
        #expect(window([:], process: 42)?.processID == 42)
        #expect(window([.machine: "here"], process: 42)?.processID == 42)
        #expect(window([.machine: "there"], process: 42) == nil)
        #expect(window([:], process: 0) == nil && window([:], process: .max) == nil)
    }

    @Test("what its actions are exported by is taken if it can be that")
    func whatItsActionsAre() {
        let new = window([.busName: ":1.7", .windowPath: "/window/1"])
        #expect(new?.busName == ":1.7" && new?.windowPath == "/window/1")
        #expect(window([.busName: "org.example.Name", .windowPath: "window"]) == nil)
    }

    @Test("nonsense and what was cut off say nothing", arguments: X11Window.Property.allCases)
    func nonsenseAndWhatWas(_ property: X11Window.Property) {
        for bytes in [
            [], [0], [0xFF, 0xFE], Array(repeating: UInt8(ascii: "a"), count: property.maximumSize),
        ]
        where property != .process || bytes.count != 4 {
            #expect(X11Window.described(by: [property: bytes], classes, machine: "here") == nil)
        }
    }
}
