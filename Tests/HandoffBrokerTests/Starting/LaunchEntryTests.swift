// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import HandoffSession
import Platform
import Testing

@testable import HandoffBroker

@Suite("How desktop entries have their applications started")
struct LaunchEntryTests {
    private func start(_ keys: String, id: String = "com.example.notes") throws -> InstalledApplication.Start?
    {
        let file = try KeyFile(text: "[Desktop Entry]\nType=Application\n" + keys)
        return LaunchEntry.start(DesktopEntry(file, at: "/entry.desktop"), try ApplicationID(id))
    }

    @Test(
        "an application without D-Bus activation is started by its Exec line, if that can be used",
        arguments: [
            ("Exec=true\n", .program), ("Exec=true %U\nTryExec=true\n", .program),
            ("Exec=true\nDBusActivatable=true\n", .bus), ("DBusActivatable=true\n", .bus),
            ("Exec=true\nDBusActivatable=false\n", .program), ("", nil), ("Exec=\n", nil),
            ("Exec=\"true\n", nil), ("Exec=true %x\n", nil), ("Exec=true\nTerminal=true\n", nil),
            ("Exec=sh -c \"true %u\"\n", nil), ("Exec=true\nTryExec=/nonexistent/program\n", nil),
            ("Exec=true\nTerminal=perhaps\n", nil),
        ] as [(String, InstalledApplication.Start?)])
    func start(_ keys: String, _ expected: InstalledApplication.Start?) throws {
        #expect(try start(keys) == expected)
    }

    @Test("an id that is no bus name cannot be started by the bus")
    func noBusName() throws {
        #expect(try start("DBusActivatable=true\nExec=true\n", id: "notes") == .program)
    }
}
