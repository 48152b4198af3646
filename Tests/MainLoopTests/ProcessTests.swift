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
