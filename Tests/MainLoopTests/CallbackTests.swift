// SPDX-License-Identifier: LGPL-2.1-or-later
import CGio
import MainLoop
import TestSupport
import Testing

/// Something whose life a test watches.
@MainLoop
private final class Witness {
    weak var value: Token?
    final class Token: Sendable {}

    func make() -> Token {
        let token = Token()
        value = token
        return token
    }
}

@Suite("Callbacks", .timeLimit(.minutes(1)))
struct CallbackTests {
    @Test("a one-shot callback gets its argument and releases what it holds")
    func once() async throws {
        try await onLoop {
            let witness = Witness()
            var got: [String] = []
            do {
                let token = witness.make()
                let data = Callback.Once<String>.pass {
                    got.append($0)
                    _ = token
                }
                #expect(witness.value != nil)
                Callback.Once<String>.call(data, "argument")
            }
            #expect(got == ["argument"])
            try await eventually { witness.value == nil }
        }
    }

    @Test("a callback without data is harmless")
    func noData() async throws {
        try await onLoop {
            Callback.Once<Int>.call(nil, 1)
            #expect(Callback.Repeating.call(nil) == 0)
            Callback.Repeating.destroy(nil)
        }
    }

    @Test("a repeating callback stays until it is destroyed, and then releases what it holds")
    func repeating() async throws {
        try await onLoop {
            let witness = Witness()
            var calls = 0
            do {
                let token = witness.make()
                let data = Callback.Repeating.pass {
                    _ = token
                    calls += 1
                    return calls < 3
                }
                #expect([1, 2, 3].map { _ in Callback.Repeating.call(data) } == [1, 1, 0])
                #expect(witness.value != nil)
                Callback.Repeating.destroy(data)
            }
            try await eventually { witness.value == nil }
        }
    }

    @Test("what a callback starts runs before C gets control back")
    func drain() async throws {
        // This runs in a separate process: here, the jobs of other tests might have used up the time that
        // there is for jobs.
        let end = try await onLoop {
            try await ChildProcess([program("MainLoopProgram"), "callbacks"]).finished()
        }
        #expect(end == .exited(0))
    }

    @Test("a timer releases what it holds when it has called, is cancelled or is freed", arguments: 0..<3)
    func timers(_ way: Int) async throws {
        try await onLoop {
            let witness = Witness()
            do {
                let (token, called) = (witness.make(), Promise<Bool>())
                let timer = LoopSource.timer(after: way == 0 ? .zero : .seconds(3600)) {
                    _ = token
                    called.keep(true)
                }
                if way == 0 { _ = try await called.get() }
                if way == 1 { timer.cancel() }
            }
            try await eventually { witness.value == nil }
        }
    }

    @Test("a descriptor's source releases what it holds when it is freed")
    func descriptor() async throws {
        try await onLoop {
            let witness = Witness()
            do {
                let token = witness.make()
                _ = DescriptorSource(0, .failed) { _ in _ = token }
            }
            try await eventually { witness.value == nil }
        }
    }

    @Test("a source may be freed on another thread")
    func freedElsewhere() async throws {
        LoopThread.start()
        let witness = await MainLoop.start { Witness() }.value
        do {
            let timer = await MainLoop.start {
                let token = witness.make()
                return LoopSource.timer(after: .seconds(3600)) { _ = token }
            }.value
            await Task { @concurrent in _ = timer }.value
        }
        try await onLoop { try await eventually { witness.value == nil } }
    }
}
