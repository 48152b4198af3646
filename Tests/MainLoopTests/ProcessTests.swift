// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import TestSupport
import Testing

@testable import MainLoop

@Suite("The end of another process")
struct ProcessTests {
    @Test("it is waited for, and told once it has come", arguments: [true, false])
    func end(knownToKernel: Bool) async throws {
        try await onLoop {
            let child = try ChildProcess(["sleep", "60"])
            let id = UInt32(child.id)
            let handle = knownToKernel ? ProcessHandle(id) : ProcessHandle(id, -1)
            #expect(await handle.end(within: .milliseconds(50)) == false)
            let (one, other) = (
                MainLoop.start { await handle.end(within: .seconds(20)) },
                MainLoop.start { await handle.end(within: .seconds(20)) }
            )
            child.send(signal: SIGKILL)
            #expect(await one.value)
            #expect(await other.value)
            #expect(await handle.end(within: .zero))
            _ = try await child.finished()
        }
    }

    @Test("a process that has ended before is known to have")
    func past() async throws {
        try await onLoop {
            let child = try ChildProcess(["true"])
            _ = try await child.finished()
            #expect(await ProcessHandle(UInt32(child.id)).end(within: .zero))
            #expect(await ProcessHandle(.max).end(within: .zero))
        }
    }
}

@Suite("A process that is watched")
struct ProcessWatchTests {
    @Test("its end is told once, and known before it is told")
    func end() async throws {
        try await onLoop {
            let child = try ChildProcess(["sleep", "60"])
            var told = 0
            let watch = try ProcessWatch(UInt32(child.id)) { told += 1 }
            #expect(!watch.hasEnded && watch.process == UInt32(child.id))
            child.send(signal: SIGKILL)
            try await eventually { told > 0 }
            #expect(watch.hasEnded && told == 1)
            _ = try await child.finished()
        }
    }

    @Test(
        "what is no process, or one that has ended, is not watched",
        arguments: [0, UInt32.max, nil] as [UInt32?])
    func past(_ id: UInt32?) async throws {
        try await onLoop {
            let child = try ChildProcess(["true"])
            _ = try await child.finished()
            #expect(throws: ProcessWatch.Failure.ended) { _ = try ProcessWatch(id ?? UInt32(child.id)) {} }
        }
    }
}
