// SPDX-License-Identifier: LGPL-2.1-or-later
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

@Suite("Waiting for acknowledgements")
struct AcknowledgementWatchTests {
    /// What a watch sees and does.
    @MainLoop
    private final class Line {
        var silence: Silence?
        var hasEnded = false
        lazy var watch = AcknowledgementWatch { [weak self] in
            self?.silence
        } _: { [weak self] _ in
            self?.hasEnded = true
        }
    }

    private static let time = Duration.milliseconds(50)

    @Test("a line on which something was sent again, and nothing heard since, has ended")
    func dead() async throws {
        try await onLoop {
            let line = Line()
            line.silence = Silence(duration: .seconds(60), isDoubtful: true)
            line.watch.expect(within: Self.time)
            try await eventually { line.hasEnded }
        }
    }

    @Test("one that was heard since then, or has nothing to be acknowledged, has not")
    func alive() async throws {
        try await onLoop {
            for silence in [nil, Silence(duration: .milliseconds(1), isDoubtful: true)] {
                let line = Line()
                line.silence = silence
                line.watch.expect(within: Self.time)
                try await letPass(.milliseconds(400))
                #expect(!line.hasEnded)
                line.watch.stop()
            }
        }
    }

    @Test("what was sent shortly before the time is watched on")
    func late() async throws {
        try await onLoop {
            let line = Line()
            line.silence = Silence(duration: .seconds(60), isDoubtful: false)
            line.watch.expect(within: Self.time)
            try await letPass(.milliseconds(200))
            #expect(!line.hasEnded)
            line.silence = Silence(duration: .seconds(60), isDoubtful: true)
            try await eventually { line.hasEnded }
        }
    }
}
