// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import HandoffCore
import MainLoop
import TestSupport
import Testing

@testable import HandoffStarting

@Suite("Looks at files that take their time")
struct FileLooksTests {
    @Test("what a look finds is what it returns")
    func found() async throws {
        try await onLoop {
            let found = try await FileLooks().find(.syncClients, within: nil) { 7 }
            #expect(found == 7)
        }
    }

    @Test("what a look throws is thrown")
    func thrown() async throws {
        try await onLoop {
            _ = await #expect(throws: HandoffFailure.self) {
                try await FileLooks().find(.starting) {
                    throw HandoffFailure(.noApplication, "")
                }
            }
        }
    }

    @Test("each purpose has a number of threads, and who comes when all hang is told what and why")
    func bound() async throws {
        try await onLoop {
            for purpose in FileLooks.Purpose.allCases {
                let (looks, gate) = (FileLooks(), DispatchSemaphore(value: 0))
                let tasks = (0..<purpose.maximum).map { _ in
                    MainLoop.start {
                        try await looks.find(purpose, within: .milliseconds(50)) { gate.wait() }
                    }
                }
                for task in tasks {
                    let failure = await Self.failure { try await task.value }
                    #expect(failure?.code == .connectionUnavailable)
                    #expect(failure?.message.contains("does not answer") == true)
                }
                let failure = await Self.failure { try await looks.find(purpose) {} }
                #expect(failure?.code == .limitsExceeded)
                #expect(failure?.message.contains("\(purpose.maximum) that began before") == true)
                let other = try #require(FileLooks.Purpose.allCases.first { $0 != purpose })
                let found = try await looks.find(other) { 1 }
                #expect(found == 1)
                for _ in tasks { gate.signal() }
                let end = MainLoop.now + 20_000_000
                while await looks.look(purpose, { 2 }) != 2, MainLoop.now < end {
                    try await MainLoop.sleep(for: .milliseconds(1))
                }
                #expect(await looks.look(purpose) { 2 } == 2)
            }
        }
    }

    @Test("what does not answer takes one thread, however often it is asked for, until it does")
    func subjects() async throws {
        try await onLoop {
            let (looks, gate) = (FileLooks(), DispatchSemaphore(value: 0))
            let first = await Self.failure {
                try await looks.find(.starting, of: "a", within: .milliseconds(50)) { gate.wait() }
            }
            #expect(first?.code == .connectionUnavailable)
            for _ in 0..<20 {
                let again = await Self.failure { try await looks.find(.starting, of: "a") { gate.wait() } }
                #expect(again?.code == .connectionUnavailable)
                #expect(again?.message.contains("does not answer") == true)
            }
            #expect(try await looks.find(.starting, of: "b") { 1 } == 1)
            gate.signal()
            let end = MainLoop.now + 20_000_000
            while await looks.look(.starting, of: "a", { 2 }) != 2, MainLoop.now < end {
                try await MainLoop.sleep(for: .milliseconds(1))
            }
            #expect(await looks.look(.starting, of: "a") { 2 } == 2)
        }
    }

    @Test("what may still answer in time is looked at as often as it is asked for")
    func together() async throws {
        try await onLoop {
            let (looks, gate) = (FileLooks(), DispatchSemaphore(value: 0))
            let first = MainLoop.start { try await looks.find(.starting, of: "a") { gate.wait() } }
            try await MainLoop.sleep(for: .milliseconds(1))
            #expect(try await looks.find(.starting, of: "a") { 1 } == 1)
            gate.signal()
            try await first.value
        }
    }

    private static func failure(_ body: @MainLoop () async throws -> Void) async -> HandoffFailure? {
        do {
            try await body()
            return nil
        } catch { return error as? HandoffFailure }
    }

    @Test("nobody waits longer than half a second, and there are only so many at a time")
    func hanging() async throws {
        try await onLoop {
            let looks = FileLooks()
            let gate = DispatchSemaphore(value: 0)
            let begin = MainLoop.now
            let late: Int? = await looks.look(.syncClients) {
                gate.wait()
                return 1
            }
            #expect(late == nil && (400_000..<5_000_000).contains(MainLoop.now - begin))
            let second = MainLoop.now
            #expect(await looks.look(.syncClients) { 2 } == nil)
            #expect(MainLoop.now - second < 400_000)
            gate.signal()
            // The look that hung comes back some time after the signal.
            let end = MainLoop.now + 20_000_000
            var next: Int?
            while next == nil, MainLoop.now < end {
                try await MainLoop.sleep(for: .milliseconds(1))
                next = await looks.look(.syncClients) { 3 }
            }
            #expect(next == 3)
        }
    }
}
