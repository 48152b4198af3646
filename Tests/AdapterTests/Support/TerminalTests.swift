// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import MainLoop
import Platform
import TestSupport
import Testing

@testable import AdapterSupport

@Suite("terminals")
struct TerminalTests {
    private func installed(_ programs: Set<String>, desktop: String = "") -> String? {
        Terminal.installed(desktop: desktop) { programs.contains($0) ? "/usr/bin/\($0)" : nil }?.path
    }

    @Test("what the user prefers comes first, then the desktop's own, then what the administrator has chosen")
    func order() {
        let all: Set = ["xdg-terminal-exec", "konsole", "x-terminal-emulator", "gnome-terminal", "xterm"]
        #expect(installed(all, desktop: "KDE") == "/usr/bin/xdg-terminal-exec")
        let rest = all.subtracting(["xdg-terminal-exec"])
        #expect(installed(rest, desktop: "KDE") == "/usr/bin/konsole")
        #expect(installed(rest, desktop: "ubuntu:GNOME") == "/usr/bin/gnome-terminal")
        #expect(installed(rest, desktop: "i3") == "/usr/bin/x-terminal-emulator")
        #expect(installed(["xterm"], desktop: "GNOME") == "/usr/bin/xterm")
        #expect(installed([], desktop: "GNOME") == nil)
    }

    @Test(
        "each terminal is there once, for every desktop",
        arguments: ["", "KDE", "GNOME:GNOME-Classic", "XFCE"])
    func once(_ desktop: String) {
        let names = Terminal.candidates(desktop: desktop).map(\.program)
        #expect(Set(names).count == names.count && names.contains("xterm"))
    }

    @Test("the command follows what the terminal wants before it")
    func command() {
        let terminal = Terminal.installed(desktop: "GNOME") {
            $0 == "gnome-terminal" ? "/usr/bin/gnome-terminal" : nil
        }
        #expect(
            terminal?.terminal.command("/usr/bin/gnome-terminal", running: ["/x", "y"])
                == ["/usr/bin/gnome-terminal", "--", "/x", "y"])
    }
}

@Suite("errands")
struct ErrandTests {
    @Test("an errand is taken once, word by word as it was left")
    func once() throws {
        let words = ["/usr/bin/vim", "+3", "--", "/home/me/a b\n'\"$x.txt", ""]
        let name = try Errand.leave(words)
        #expect(name.count == 32 && name.allSatisfy { $0.isHexDigit })
        #expect(Errand.take(name) == words)
        #expect(Errand.take(name) == nil)
    }

    @Test(
        "an errand that was dropped is gone, and what is no errand's name is none",
        arguments: ["", "../x", "0123", "/etc/passwd"])
    func none(_ name: String) throws {
        let dropped = try Errand.leave(["x"])
        Errand.drop(dropped)
        #expect(Errand.take(dropped) == nil && Errand.take(name) == nil)
    }

    @Test("errands that were left too long ago are swept away, and others stay")
    func swept() throws {
        let (old, new) = (try Errand.leave(["x"]), try Errand.leave(["y"]))
        let folder = "\(UserDirectories.runtime)/handoff/errands"
        var times = [
            timespec(tv_sec: time(nil) - 100, tv_nsec: 0), timespec(tv_sec: time(nil) - 100, tv_nsec: 0),
        ]
        #expect(utimensat(AT_FDCWD, "\(folder)/\(old)", &times, 0) == 0)
        Errand.sweep(olderThan: 60)
        #expect(Errand.take(old) == nil && Errand.take(new) == ["y"])
    }

    @Test("an errand is waited for until it is taken, dropped, or its time is up")
    func waited() async throws {
        try await onLoop {
            let errands = WaitingErrands(patience: .seconds(3))
            var told = 0
            errands.onChange = { told += 1 }
            let (taken, dropped, late) = (
                try Errand.leave(["a"]), try Errand.leave(["b"]), try Errand.leave(["c"])
            )
            for errand in [taken, dropped] { errands.add(errand) }
            errands.drop(dropped)
            #expect(!errands.isEmpty && told == 3)
            let began = MainLoop.now
            #expect(Errand.take(taken) == ["a"])
            try await eventually { errands.isEmpty }
            #expect(MainLoop.now - began < 2_500_000)
            errands.add(late)
            try await eventually { errands.isEmpty }
            try await eventually { !Errand.isThere(late) && !Errand.isThere(dropped) }
        }
    }

    @Test("what is too long or holds a null character is refused")
    func refused() {
        #expect(throws: (any Error).self) { try Errand.leave([String(repeating: "x", count: 70_000)]) }
        #expect(throws: (any Error).self) { try Errand.leave(["a\0b"]) }
    }
}
