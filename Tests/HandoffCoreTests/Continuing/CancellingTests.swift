// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Cancelling a continuation")
struct CancellingTests {
    /// How far a continuation is when it is cancelled.
    enum Stage: CaseIterable {
        case new, starting, asked, ready, unlinked, awaiting, bringing, refreshing
        case delivering, opening, continued, failed

        /// What the user gets instead of the cancellation; nil if it is one.
        var refusal: HandoffFailure.Code? {
            switch self {
            case .starting, .asked, .ready, .unlinked, .awaiting, .bringing, .refreshing: nil
            case .delivering, .opening: .notSupported
            case .new, .continued, .failed: .unknownObject
            }
        }

        /// Whether the application knows that something is coming.
        var isAwaited: Bool { self != .starting }
    }

    private func continuation(at stage: Stage) throws -> Continuation {
        var continuation = Continuation(
            id: try Example.continuation(1), device: try Example.device(1), offer: try Example.offer(),
            target: .application(try Example.application(), isRunning: stage != .starting), caller: "a")
        guard stage != .new else { return continuation }
        _ = continuation.begin(at: .at(0))
        guard stage != .starting, stage != .asked else { return continuation }
        _ = continuation.willContinueAnswered(false, at: .at(0))
        let document: Continuation.Document =
            switch stage {
            case .awaiting: .awaited
            case .bringing: .remote
            case .opening: .present
            default: .none
            }
        switch stage {
        case .ready: break
        case .unlinked:
            continuation.linkLost()
            _ = continuation.fetchFailed(HandoffFailure(.connectionUnavailable, "lost"), at: .at(1))
        case .failed: _ = continuation.stopped(.disabled)
        default:
            if stage == .refreshing { continuation.offerRevised(to: 2) }
            _ = continuation.fetched(.init(offer: try Example.offer(), document: document), at: .at(1))
            if stage == .opening { _ = continuation.deliverAnswered(.declined, at: .at(2)) }
            if stage == .continued { _ = continuation.deliverAnswered(.handled, at: .at(2)) }
        }
        return continuation
    }

    @Test(
        "until the application is handed the activity it ends at once, for all who have asked, and the origin is told; later it goes on",
        arguments: Stage.allCases)
    func stages(stage: Stage) throws {
        var continuation = try continuation(at: stage)
        if stage.refusal != .unknownObject { try continuation.join("b") }
        let isRunning = continuation.isRunning
        let actions: [Continuation.Action]
        do {
            actions = try continuation.cancel()
            #expect(stage.refusal == nil)
        } catch {
            #expect(error.code == stage.refusal && continuation.isRunning == isRunning)
            return
        }
        guard case .finished(.failed(let failure), callers: ["a", "b"]) = actions.dropLast().last else {
            Issue.record("\(actions)")
            return
        }
        #expect(failure.code == .cancelled && failure.message.contains("cancelled"))
        #expect(
            actions == (stage.isAwaited ? [.tellApplicationFailed(failure)] : [])
                + [.finished(.failed(failure), callers: ["a", "b"]), .release])
        #expect(!continuation.isRunning && continuation.nextDeadline == nil)
        #expect(throws: HandoffFailure.self) { try continuation.cancel() }
    }

    @Test(
        "when the user excludes the application, it ends in the same way for that reason; what was handed over goes on",
        arguments: Stage.allCases)
    func excluded(stage: Stage) throws {
        var continuation = try continuation(at: stage)
        let isRunning = continuation.isRunning
        let actions = continuation.excluded(try Example.application())
        guard stage.refusal == nil else {
            #expect(actions == [] && continuation.isRunning == isRunning)
            return
        }
        guard case .finished(.failed(let failure), callers: ["a"]) = actions.dropLast().last else {
            Issue.record("\(actions)")
            return
        }
        #expect(failure.code == .noApplication && failure.message.contains("com.example.notes is excluded"))
        #expect(
            actions == (stage.isAwaited ? [.tellApplicationFailed(failure)] : [])
                + [.finished(.failed(failure), callers: ["a"]), .release])
        #expect(!continuation.isRunning && continuation.nextDeadline == nil)
    }

    @Test("what comes after it does nothing")
    func late() throws {
        var continuation = try continuation(at: .bringing)
        _ = try continuation.cancel()
        continuation.documentProgressed(to: 5, of: 5, at: .at(3))
        #expect(continuation.documentArrived(at: .at(3)) == [])
        #expect(continuation.willContinueAnswered(true, at: .at(3)) == [])
        #expect(continuation.fetchFailed(HandoffFailure(.applicationFailed, "no"), at: .at(3)) == [])
        #expect(continuation.linkRestored(at: .at(4)) == [] && continuation.letGo() == [])
    }

    @Test(
        "a document that comes a little at a time is too slow after a minute, and one that is nearly here is not"
    )
    func slowDocument() throws {
        func end(_ size: UInt64?, _ count: (Int64) -> UInt64) throws -> (Int64, [Continuation.Action]) {
            var continuation = try continuation(at: .bringing)
            for second in stride(from: Int64(10), through: 300, by: 10) {
                let actions = continuation.advance(to: .at(second * 1000))
                guard actions.isEmpty else { return (second, actions) }
                continuation.documentProgressed(to: count(second), of: size, at: .at(second * 1000))
            }
            return (300, [])
        }
        for size: UInt64? in [nil, 5 << 30] {
            let (second, actions) = try end(size) { UInt64($0) }
            #expect(second == 70, "a minute after it began")
            guard case .finished(.failed(let failure), callers: ["a"]) = actions.dropFirst().first else {
                Issue.record("\(actions)")
                return
            }
            #expect(failure.code == .connectionUnavailable && failure.message.contains("slowly"))
        }
        #expect(try end(5 << 30) { UInt64($0) * 8 << 10 }.1 == [])
        #expect(try end(100) { _ in 100 }.1 == [])
        #expect(try end(1_000_000) { min(UInt64($0) * 20_000, 1_000_000) }.1 == [])
    }
}
