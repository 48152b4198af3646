// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("Clients that leave at any moment", .timeLimit(.minutes(1)))
struct LeavingTests {
    /// What a client does, in order, each of it without waiting for answers.
    enum Step: Int, CaseIterable {
        case register, create, becomeCurrent, save, `continue`, resign, invalidate, unregister
    }

    @Test(
        "a client that leaves at any point of its calls leaves nothing behind, here and on peers; others go on",
        arguments: Step.allCases, [true, false])
    func leaving(last: Step, waits: Bool) async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let witness = try await SessionClient(desk, "com.example.witness")
            let handlers = [
                try await SessionClient(lap), try await SessionClient(lap, "com.example.witness"),
            ]
            let (here, there) = (try await SessionDock(desk), try await SessionDock(lap))
            let standing = try await witness.offer("Standing")
            let leaver = SessionClient(unregisteredOn: desk)
            leaver.onWillSave = { _ in try await hang() }
            var answers: [Task<Void, any Error>] = []
            var activity: ActivityProxy?
            for step in Step.allCases where step.rawValue <= last.rawValue {
                // Its path is in an answer, since nobody can know it before.
                if step == .becomeCurrent {
                    // Behind what was begun before.
                    activity =
                        try await MainLoop.start {
                            try await leaver.create("", ["Title": .string("Left behind")])
                        }.value
                }
                if step == .save {
                    // From here on no time passes, or the last state would be handed over where leaving takes long.
                    _ = try await MainLoop.start { try await leaver.manager.version() }.value
                    await desk.pass(.seconds(1))
                }
                if step == .continue {
                    handlers[0].onWillContinue = { try await hang() }
                    try await there.remote(try await there.offer("Left behind")).continue(options: [:])
                    try await eventually { leaver.count("WillSave") == 1 }
                } else {
                    let known = activity
                    answers.append(MainLoop.start { try await Self.send(step, leaver, known) })
                }
            }
            if waits {
                for answer in answers { try await answer.value }
                if last == .save { try await eventually { leaver.count("WillSave") == 1 } }
            }
            leaver.bus.leave()
            for answer in answers { _ = try? await answer.value }
            var left: Set<ObjectPath> = []
            repeat {
                await desk.pass(.zero)
                left = Set(try await witness.object(HandoffNames.brokerPath).managedObjects().keys)
            } while left != [standing.object.path]
            try await eventually { !there.titles.contains("Left behind") }
            if last.rawValue >= Step.continue.rawValue {
                try await eventually { there.outcomes.count == 1 }
                let errors = [HandoffFailure.Code.offerWithdrawn, .unknownObject].map(\.errorName.text)
                #expect(errors.contains(there.outcomes[0].error))
            }
            #expect(!here.titles.contains("Left behind"))
            // Everybody else is served as before.
            try await standing.becomeCurrent()
            await desk.pass(.seconds(1))
            try await there.continue("Standing")
            #expect(there.outcomes.last?.error == "" && handlers[1].count("ContinueActivity") == 1)
        }
    }

    @MainLoop
    private static func send(_ step: Step, _ client: SessionClient, _ activity: ActivityProxy?) async throws {
        switch step {
        case .register: try await client.register()
        case .create: _ = try await client.create("", ["Title": .string("Left behind")])
        case .becomeCurrent: try await activity?.becomeCurrent()
        case .save: try await activity?.setNeedsSave(true)
        case .continue: break
        case .resign: try await activity?.resignCurrent()
        case .invalidate: try await activity?.invalidate()
        case .unregister: try await client.manager.unregisterApplication()
        }
    }
}
