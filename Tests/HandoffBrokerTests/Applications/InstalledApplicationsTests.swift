// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import HandoffCore
import MainLoop
import Platform
import TestSupport
import Testing

@testable import HandoffBroker

/// Readings of desktop entries that take as long as a test wants.
private final class SlowReader: Sendable {
    private let gate = DispatchSemaphore(value: 0)
    private let counts = Counts()

    @MainLoop
    final class Counts {
        var begun = 0
        var most = 0
        var underWay = 0
        nonisolated init() {}
    }

    @MainLoop var begun: Int { counts.begun }
    @MainLoop var most: Int { counts.most }

    /// Lets one reading go on, to its middle or its end.
    func goOn() { gate.signal() }

    func read(_ progress: (InstalledReading) -> Void, _ name: String) -> InstalledReading {
        let counts = counts
        var reading = InstalledReading()
        reading.contents.applications = Self.applications(name, 1)
        progress(reading)
        // Whoever sees that it has begun can count on what it has found by then.
        MainLoop.start {
            counts.begun += 1
            counts.underWay += 1
            counts.most = max(counts.most, counts.underWay)
        }
        gate.wait()
        reading.contents.applications = Self.applications(name, 2)
        MainLoop.start { counts.underWay -= 1 }
        return reading
    }

    private static func applications(_ name: String, _ count: Int) -> [InstalledApplication] {
        (0..<count).compactMap { number in
            (try? ApplicationID("com.example.\(name)\(number)")).map {
                InstalledApplication($0, declaration: Declaration())
            }
        }
    }
}

@Suite("Reading which applications are installed")
struct InstalledApplicationsTests {
    /// What was told: how many applications, and whether those are all.
    @MainLoop
    private final class Told {
        var counts: [Int] = []
        var isWhole: [Bool] = []
    }

    @MainLoop
    private static func make(_ reader: SlowReader, _ told: Told) -> InstalledApplications {
        let read: InstalledApplications.Reader = { reader.read($1, "a") }
        return InstalledApplications(read) {
            told.counts.append($0.contents.applications.count)
            told.isWhole.append($1)
        }
    }

    @Test("they are read once, on a thread, and told when all are known")
    func once() async throws {
        try await onLoop {
            let (reader, told) = (SlowReader(), Told())
            let installed = Self.make(reader, told)
            for _ in 0..<5 { installed.begin() }
            try await eventually { reader.begun == 1 }
            #expect(!installed.areKnown && told.counts.isEmpty)
            reader.goOn()
            try await eventually { installed.areKnown }
            #expect(told.counts == [2] && told.isWhole == [true])
            installed.begin()
            try await letPass(.milliseconds(20))
            #expect(reader.begun == 1 && reader.most == 1)
        }
    }

    @Test("whoever cannot wait any longer gets what is known so far, and all when they are known")
    func overdue() async throws {
        try await onLoop {
            let (reader, told) = (SlowReader(), Told())
            let installed = Self.make(reader, told)
            installed.begin()
            try await eventually { reader.begun == 1 }
            for _ in 0..<3 { installed.useWhatIsKnown() }
            #expect(told.counts == [1] && told.isWhole == [false] && !installed.areKnown)
            reader.goOn()
            try await eventually { installed.areKnown }
            #expect(told.counts == [1, 2] && told.isWhole == [false, true])
        }
    }

    @Test("what is wrong with an entry is said once, however often it is read, and of twenty at most")
    func complaints() async throws {
        LoggedLines.begin()
        let folder = try TemporaryDirectory()
        let entry =
            "[Desktop Entry]\nType=Application\nImplements=org.example.Handoff.Application;\nX-Handoff-Team=a.b\n"
            + "[org.example.Handoff.Application]\n"
        try folder.write(entry, to: "both.desktop")
        try await onLoop {
            let told = Told()
            let path = folder.path(".")
            let read: InstalledApplications.Reader = { _, _ in
                var reading = InstalledReading()
                reading.watched = WatchedFolders([path])
                ApplicationFolders.look(in: path, &reading.contents)
                return reading
            }
            let installed = InstalledApplications(read) { _, isWhole in told.isWhole.append(isWhole) }
            installed.begin()
            try await eventually { told.isWhole.count == 1 }
            #expect(LoggedLines.with("both.desktop: X-Handoff-Team").count == 1)
            try folder.write(entry + "Team=a.b\n", to: "both.desktop")
            try await eventually { told.isWhole.count == 2 }
            #expect(LoggedLines.with("both.desktop: X-Handoff-Team").count == 1)
            for number in 1...40 { try folder.write(entry, to: "\(number).desktop") }
            try folder.write(entry + "X-Handoff-Domains=\n", to: "both.desktop")
            try await eventually { told.isWhole.count == 3 }
            #expect(LoggedLines.with(".desktop: X-Handoff-Team").count == 20)
        }
    }

    @Test("what a folder for data says is found there: entries, and which names stand for which types")
    func folders() async throws {
        let entry =
            "[Desktop Entry]\nType=Application\nImplements=org.example.Handoff.Application;\nX-Handoff-ActivityTypes=a.b\n"
        let folder = try TemporaryDirectory()
        var contents = ApplicationFolders.Contents()
        try FileManager.default.createDirectory(
            atPath: folder.path("applications/vendor"), withIntermediateDirectories: true)
        _ = try folder.write(entry, to: "applications/vendor/editor.desktop")
        ApplicationFolders.look(in: folder.path("applications"), &contents)
        #expect(contents.applications.map(\.applicationID.description) == ["vendor-editor"])
        #expect(contents.folders == [folder.path("applications"), folder.path("applications/vendor")])
    }

    @Test("what opens documents with other applications can do so once one of them is installed")
    func opensWith() throws {
        let entry =
            "[Desktop Entry]\nType=Application\nImplements=org.example.Handoff.Application;\nX-Handoff-ActivityTypes=a.b\n"
        let folder = try TemporaryDirectory()
        func canOpen() -> [Bool] {
            var contents = ApplicationFolders.Contents()
            ApplicationFolders.look(in: folder.path("."), &contents)
            contents.settle()
            return contents.applications.map(\.canOpen)
        }
        _ = try folder.write(entry, to: "editor.desktop")
        _ = try folder.write(entry + "X-Handoff-OpensWith=mpv;vlc;\n", to: "player.desktop")
        #expect(canOpen() == [true, false])
        _ = try folder.write("[Desktop Entry]\nType=Application\n", to: "vlc.desktop")
        #expect(canOpen() == [true, true])
    }
}
