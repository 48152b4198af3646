// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("A continuation that the user does not want any more, on the bus", .timeLimit(.minutes(1)))
struct CancelTests {
    private static let cancelled = HandoffFailure.Code.cancelled.errorName.text

    @Test(
        "while the activity is fetched, a continuation is cancelled for all who have asked for it; the application that waits for it is told, the origin is not told that it was continued, and continuing again works"
    )
    func fetching() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let docks = [try await SessionDock(lap), try await SessionDock(lap)]
            desk.clock.stop()
            origin.onWillSave = { _ in try await hang() }
            _ = try await origin.offer("Letter", ["NeedsSave": .boolean(true)])
            let path = try await docks[0].offer("Letter")
            for dock in docks { try await dock.remote(path).continue(options: [:]) }
            try await eventually { target.calls == ["WillContinueActivity"] }
            // Anybody may who could have begun it.
            try await docks[1].remote(path).cancel()
            try await eventually { docks.allSatisfy { $0.outcomes.count == 1 } }
            #expect(docks.allSatisfy { $0.outcomes[0].error == Self.cancelled })
            #expect(docks.allSatisfy { $0.outcomes[0].message.contains("cancelled") })
            try await eventually { docks[0].offers[path]?["State"] == .string("available") }
            try await eventually { target.failures == [Self.cancelled] }
            #expect(origin.continued.isEmpty)
            origin.onWillSave = { _ in [:] }
            await desk.pass(.seconds(2))
            try await docks[0].continue("Letter")
            try await eventually { origin.continued.count == 1 }
            #expect(docks[0].outcomes.last?.error == "" && docks[1].outcomes.count == 1)
            #expect(
                target.calls == [
                    "WillContinueActivity", "DidFailToContinueActivity", "WillContinueActivity",
                    "ContinueActivity",
                ])
        }
    }

    @Test(
        "once the application has been handed the activity, cancelling is refused and says so, and the outcome is that of the application; before anything is continued, and after it, there is nothing to cancel"
    )
    func tooLate() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let (dock, answer) = (try await SessionDock(lap), Promise<Bool>())
            target.onContinue = { try await answer.get() }
            _ = try await origin.offer("Letter")
            let path = try await dock.offer("Letter")
            let remote = dock.remote(path)
            #expect(
                await isRefused(.unknownObject, saying: ["Letter", "nothing to cancel"]) {
                    try await remote.cancel()
                })
            try await remote.continue(options: [:])
            try await eventually { target.count("ContinueActivity") == 1 }
            #expect(
                await isRefused(.notSupported, saying: ["too late", editor]) { try await remote.cancel() })
            #expect(dock.outcomes.isEmpty)
            #expect(try await remote.state() == "continuing")
            answer.keep(true)
            try await eventually { dock.outcomes.map(\.error) == [""] }
            #expect(target.failures.isEmpty)
            #expect(await isRefused(.unknownObject) { try await remote.cancel() })
        }
    }

    @Test(
        "whoever cancels in the same breath as continuing, again and again, is told one outcome each time, and the offer is shown as what it is then"
    )
    func sameBreath() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let (dock, saved) = (try await SessionDock(lap), Promise<Bool>())
            // Or it might be over before it is cancelled.
            desk.clock.stop()
            origin.onWillSave = { _ in
                _ = try await saved.get()
                return [:]
            }
            _ = try await origin.offer("Letter")
            let path = try await dock.offer("Letter")
            let remote = dock.remote(path)
            for times in 1...20 {
                let continued = MainLoop.start { try await remote.continue(options: [:]) }
                let cancelled = MainLoop.start { try await remote.cancel() }
                try await continued.value
                try await cancelled.value
                try await eventually { dock.outcomes.count == times }
            }
            saved.keep(true)
            #expect(dock.outcomes.allSatisfy { $0.error == Self.cancelled })
            #expect(try await remote.state() == "available")
            #expect(dock.offers[path]?["State"] == .string("available"))
            try await dock.continue("Letter")
            #expect(dock.outcomes.last?.error == "" && target.count("ContinueActivity") == 1)
            #expect(target.count("WillContinueActivity") == target.failures.count + 1)
        }
    }
}
