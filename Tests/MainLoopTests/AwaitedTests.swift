// SPDX-License-Identifier: LGPL-2.1-or-later
import MainLoop
import TestSupport
import Testing

@Suite("What comes once")
struct AwaitedTests {
    @Test("all who wait for it get it, and so do those who come later; only the first counts")
    func comes() async throws {
        try await onLoop {
            let awaited = Awaited<Int>()
            let tasks = (0..<3).map { _ in MainLoop.start { await awaited.value(within: .seconds(20)) } }
            MainLoop.start {
                #expect(awaited.come(7))
                #expect(!awaited.come(8))
            }
            for task in tasks { #expect(await task.value == 7) }
            #expect(await awaited.value(within: .zero) == 7)
            #expect(awaited.value == 7)
        }
    }

    @Test("whoever has waited long enough goes on without it, and others still get it")
    func patience() async throws {
        try await onLoop {
            let awaited = Awaited<String>()
            let patient = MainLoop.start { await awaited.value(within: .seconds(20)) }
            let begin = MainLoop.now
            #expect(await awaited.value(within: .milliseconds(50)) == nil)
            #expect((50_000..<10_000_000).contains(MainLoop.now - begin))
            #expect(awaited.come("late"))
            #expect(await patient.value == "late")
        }
    }

    @Test("what comes while nobody waits is kept")
    func early() async throws {
        try await onLoop {
            let awaited = Awaited<Int?>()
            #expect(!awaited.come(nil))
            let value = await awaited.value(within: .zero)
            #expect(value == .some(nil))
        }
    }

    @Test("one that nobody holds any more is freed, however it was waited for")
    func freed() async throws {
        try await onLoop {
            weak var left: Awaited<Int>?
            do {
                let awaited = Awaited<Int>()
                left = awaited
                #expect(await awaited.value(within: .milliseconds(1)) == nil)
                let task = MainLoop.start { await awaited.value(within: .seconds(20)) }
                MainLoop.start { awaited.come(1) }
                #expect(await task.value == 1)
            }
            try await eventually { left == nil }
        }
    }
}
