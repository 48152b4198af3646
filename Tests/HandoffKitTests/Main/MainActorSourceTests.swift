// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import HandoffKit
import MainLoop
import TestSupport
import Testing

@Suite("The main actor on GLib's main context")
struct MainActorSourceTests {
    @Test("a program whose loop is GLib's runs the main actor, the client and the kit on its first thread")
    func firstThread() async throws {
        try await onLoop {
            let child = try ChildProcess([program("MainActorProgram")])
            #expect(try await child.finished() == .exited(0))
            #expect(child.output == "done\n")
        }
    }

    @Test("while nothing happens nothing wakes up")
    func idle() async throws {
        try await onLoop {
            let child = try ChildProcess([program("MainActorProgram"), "idle"])
            try await eventually { child.output == "done\n" }
            // What was begun before may still end.
            try await letPass(.milliseconds(200))
            let before = try Self.wakeUps(of: child.id)
            try await letPass(.seconds(2))
            #expect(try Self.wakeUps(of: child.id) == before)
            child.send(signal: 9)
        }
    }

    /// How often the first thread of a process has given up the processor to wait for something.
    private static func wakeUps(of process: Int32) throws -> Int {
        let status = try String(
            contentsOf: URL(filePath: "/proc/\(process)/task/\(process)/status"), encoding: .utf8)
        let line = try #require(
            status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") })
        return try #require(Int(line.split(separator: "\t").last ?? ""))
    }

    @Test("where something else runs the main actor, it goes on to do so")
    func elsewhere() async {
        await MainActor.run { MainActorSource.attach() }
        #expect(
            await Task { @MainActor in
                await Task.yield()
                return true
            }.value)
    }
}
