// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import MainLoop
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("Looks at files that take their time")
struct FileLooksTests {
    @Test("what a look finds is what it returns")
    func found() async throws {
        try await onLoop { #expect(await FileLooks(atMost: 1).look { 7 } == 7) }
    }

    @Test("nobody waits longer than half a second, and there are only so many at a time")
    func hanging() async throws {
        try await onLoop {
            let looks = FileLooks(atMost: 1)
            let gate = DispatchSemaphore(value: 0)
            let begin = MainLoop.now
            let late: Int? = await looks.look {
                gate.wait()
                return 1
            }
            #expect(late == nil && (400_000..<5_000_000).contains(MainLoop.now - begin))
            let second = MainLoop.now
            #expect(await looks.look { 2 } == nil)
            #expect(MainLoop.now - second < 400_000)
            gate.signal()
            // The look that hung comes back some time after the signal.
            let end = MainLoop.now + 20_000_000
            var next: Int?
            while next == nil, MainLoop.now < end {
                try await MainLoop.sleep(for: .milliseconds(1))
                next = await looks.look { 3 }
            }
            #expect(next == 3)
        }
    }
}
