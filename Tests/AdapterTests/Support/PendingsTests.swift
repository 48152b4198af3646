// SPDX-License-Identifier: LGPL-2.1-or-later
import MainLoop
import TestSupport
import Testing

@testable import AdapterSupport

@Suite("what applications were started for")
struct PendingsTests {
    @Test("is taken in the order in which it came, once, and not after nobody waits for it any more")
    func order() async throws {
        try await onLoop {
            let pendings = Pendings<Int>()
            let begun = (1...3).map { _ in Awaited<Void>() }
            let tasks = (1...3).map { number in
                MainLoop.start {
                    var isTaken = false
                    try await pendings.keep(number, for: number == 3 ? "calc" : "writer") { taken in
                        begun[number - 1].come(())
                        isTaken = await taken(.seconds(20))
                    }
                    return isTaken
                }
            }
            for one in begun { _ = await one.value(within: .seconds(20)) }
            try await pendings.keep(4, for: "writer") { taken in
                #expect(pendings.take("writer") == 1 && pendings.take("writer") == 2)
                #expect(pendings.take("calc") == 3 && pendings.take("calc") == nil)
                #expect(await !taken(.milliseconds(1)))
            }
            #expect(pendings.take("writer") == nil)
            for task in tasks { #expect(try await task.value) }
        }
    }
}
