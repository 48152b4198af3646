// SPDX-License-Identifier: LGPL-2.1-or-later
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

@Suite("What is logged of refusals")
struct RefusalsTests {
    @Test("what repeats itself is logged once, and that there is too much is said once")
    func silence() async throws {
        try await onLoop {
            var lines: [String] = []
            let refusals = Refusals { lines.append($0) }
            for _ in 0..<3 { refusals.note("again") }
            #expect(lines == ["again"])
            for number in 1..<256 { refusals.note("line \(number)") }
            #expect(lines.count == 256)
            for number in 0..<1000 { refusals.note("more \(number)") }
            #expect(lines.count == 257)
            #expect(lines.last?.hasPrefix("More was refused than is logged") == true)
        }
    }
}
