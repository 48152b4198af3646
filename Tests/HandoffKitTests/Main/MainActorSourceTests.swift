// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import Glibc
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
            let before = try Self.wakeUps(of: child.id, thread: child.id)
            try await letPass(.seconds(2))
            #expect(try Self.wakeUps(of: child.id, thread: child.id) == before)
            child.send(signal: 9)
        }
    }

    @Test(
        "a program that has done with the kit whatever it can do, and is at rest, does not wake up, on any thread"
    )
    func atRest() async throws {
        let session = try await onLoop { try await BrokerSession.start() }
        try await onLoop {
            let child = try ChildProcess(
                [program("MainActorProgram"), "kit"], environment: session.environment)
            try await eventually { child.output == "done\n" }
            // What was begun before may still end.
            try await letPass(.milliseconds(500))
            let before = try Self.wakeUps(of: child.id)
            try await letPass(.seconds(4))
            let after = try Self.wakeUps(of: child.id)
            // A thread of libdispatch's pool would wake up at least four times in this time.
            #expect(after - before <= 1)
            child.send(signal: 9)
        }
        withExtendedLifetime(session) {}
    }

    @Test(
        "when the session ends, so does the loop of a program without one; what goes on is not busy with it")
    func sessionEnds() async throws {
        try await onLoop {
            let session = try await BrokerSession.start()
            let child = try ChildProcess(
                [program("MainActorProgram"), "session"], environment: session.environment)
            try await eventually { child.output == "current\n" || child.end != nil }
            session.killBus()
            try await eventually { child.output == "current\ndone\n" || child.end != nil }
            #expect(child.end == nil, "\(child.output)")
            // What was begun before may still end.
            try await letPass(.milliseconds(500))
            let before = try Self.wakeUps(of: child.id, thread: child.id)
            try await letPass(.seconds(2))
            #expect(try Self.wakeUps(of: child.id, thread: child.id) == before)
            child.send(signal: 9)
        }
    }

    /// How often the threads of a process have given up the processor to wait for something.
    private static func wakeUps(of process: Int32) throws -> Int {
        var threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
            .compactMap { Int32($0) }.sorted()
        if hasSanitizerThread, threads.count > 1 { threads.remove(at: 1) }
        return try threads.reduce(0) { sum, thread in sum + (try wakeUps(of: process, thread: thread)) }
    }

    /// The thread sanitizer looks ten times a second whether there is something to say, in the first thread that a program
    /// begins. The program is built as this one is.
    private static let hasSanitizerThread = dlsym(nil, "__tsan_init") != nil

    private static func wakeUps(of process: Int32, thread: Int32) throws -> Int {
        let file = URL(filePath: "/proc/\(process)/task/\(thread)/status")
        let line = try #require(
            String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .first { $0.hasPrefix("voluntary_ctxt_switches") })
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
