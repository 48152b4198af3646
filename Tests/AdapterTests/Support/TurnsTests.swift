// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import MainLoop
import TestSupport
import Testing

@testable import AdapterSupport

@Suite("Turns")
struct TurnsTests {
    @Test(
        "one after the other has a thing, in the order in which they came, also after one that fails; other things are free"
    )
    func order() async throws {
        try await onLoop {
            let (turns, order) = (Turns(), Order())
            let first = Awaited<Void>()
            let tasks = (0..<3).map { number in
                MainLoop.start {
                    try await turns.run("vim", within: .seconds(20)) {
                        order.names.append("vim \(number)")
                        if number == 0 { _ = await first.value(within: .seconds(20)) }
                        if number == 1 { throw HandoffFailure(.applicationFailed, "") }
                    }
                }
            }
            try await MainLoop.start {
                try await turns.run("nvim", within: .seconds(20)) { order.names.append("nvim") }
            }.value
            #expect(order.names == ["vim 0", "nvim"])
            first.come(())
            try await tasks[0].value
            await #expect(throws: HandoffFailure.self) { try await tasks[1].value }
            try await tasks[2].value
            #expect(order.names == ["vim 0", "nvim", "vim 1", "vim 2"])
            try await turns.run("vim", within: .seconds(20)) { order.names.append("again") }
            #expect(order.names.last == "again")
        }
    }

    @Test("only so many wait for one thing")
    func bounded() async throws {
        try await onLoop {
            let (turns, end) = (Turns(), Awaited<Void>())
            let tasks = (0..<Turns.maximum).map { _ in
                MainLoop.start {
                    try await turns.run("vim", within: .seconds(20)) {
                        _ = await end.value(within: .seconds(20))
                    }
                }
            }
            let late = MainLoop.start { try await turns.run("vim", within: .seconds(20)) {} }
            await #expect(throws: HandoffFailure.self) { try await late.value }
            end.come(())
            for task in tasks { try await task.value }
        }
    }

    @Test("who has waited too long leaves, and those behind still wait for the first")
    func tooLong() async throws {
        try await onLoop {
            let (turns, end, order) = (Turns(), Awaited<Void>(), Order())
            let first = MainLoop.start {
                try await turns.run("vim", within: .seconds(20)) {
                    _ = await end.value(within: .seconds(20))
                    order.names.append("first")
                }
            }
            let second = MainLoop.start {
                try await turns.run("vim", within: .zero) { order.names.append("second") }
            }
            let third = MainLoop.start {
                try await turns.run("vim", within: .seconds(20)) { order.names.append("third") }
            }
            await #expect(throws: HandoffFailure.self) { try await second.value }
            #expect(order.names.isEmpty)
            end.come(())
            try await first.value
            try await third.value
            #expect(order.names == ["first", "third"])
        }
    }
}

/// What has happened, in its order.
@MainLoop
private final class Order {
    var names: [String] = []
}
