// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import MainLoop
import TestSupport
import Testing

@Suite("Watching folders")
struct FolderWatchTests {
    @MainLoop
    private final class Count { var value = 0 }

    @Test("what changes between the moment that folders are watched and that somebody listens is told")
    func early() async throws {
        let folder = try TemporaryDirectory()
        try await onLoop {
            let count = Count()
            let watch = FolderWatch { count.value += 1 }
            let watched = try #require(WatchedFolders([folder.path("")]))
            _ = try folder.write("a", to: "a.desktop")
            watch.watch(watched)
            try await eventually { count.value > 0 }
        }
    }

    @Test("a folder that does not exist yet is waited for, and so are single files; others count for nothing")
    func names() async throws {
        let folder = try TemporaryDirectory()
        try await onLoop {
            let count = Count()
            let watch = FolderWatch { count.value += 1 }
            watch.watch(
                WatchedFolders([folder.path("applications")], files: [folder.path("mime/globs2")]))
            _ = try folder.write("a", to: "recently-used.xbel")
            try await letPass(.milliseconds(50))
            #expect(count.value == 0)
            for name in ["applications", "mime"] {
                let former = count.value
                try FileManager.default.createDirectory(
                    atPath: folder.path(name), withIntermediateDirectories: false)
                try await eventually { count.value > former }
            }
        }
    }

    @Test("only what was watched last counts")
    func replaced() async throws {
        let (first, second) = (try TemporaryDirectory(), try TemporaryDirectory())
        try await onLoop {
            let count = Count()
            let watch = FolderWatch { count.value += 1 }
            watch.watch(WatchedFolders([first.path("")]))
            watch.watch(WatchedFolders([second.path("")]))
            _ = try first.write("a", to: "a")
            try await letPass(.milliseconds(50))
            #expect(count.value == 0)
            _ = try second.write("a", to: "a")
            try await eventually { count.value > 0 }
        }
    }
}
