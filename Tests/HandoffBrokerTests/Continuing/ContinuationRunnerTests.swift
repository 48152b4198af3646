// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import MainLoop
import TestSupport
import Testing

@testable import HandoffBroker

/// What a continuation does on a bus. When it does what is for the state machine's tests.
@Suite("Running a continuation", .serialized)
struct ContinuationRunnerTests {
    @Test("an application that handles it gets the activity once; the origin and the user are told once")
    func success() async throws {
        try await onLoop {
            let session = try await TestSession.start()
            try await session.continue()
            try await session.end()
            #expect(session.application.events == ["will", "continue"])
            try await eventually { session.peer.events == ["fetch", "continued", "release"] }
            #expect(session.outcomes == [""])
            #expect(
                session.application.activities == [
                    [
                        "ActivityType": .string("com.example.notes.edit"),
                        "ApplicationId": .string("com.example.notes"), "Title": .string("Shopping"),
                        "UserInfo": .properties(["page": .int32(7)]),
                    ]
                ])
        }
    }

    @Test(
        "an application that says no has had it: it is not told that nothing comes, and the origin is not told"
    )
    func declined() async throws {
        try await onLoop {
            let session = try await TestSession.start()
            session.application.onContinue = { false }
            try await session.continue()
            try await session.end()
            #expect(session.application.events == ["will", "continue"])
            try await eventually { session.peer.events == ["fetch", "release"] }
            #expect(session.outcomes == ["org.example.Handoff.Error.ApplicationFailed"])
        }
    }

    @Test("an application that answers with an error has failed")
    func refused() async throws {
        try await onLoop {
            let session = try await TestSession.start()
            session.application.onContinue = { throw DBusError(.failed, "The file is too new.") }
            try await session.continue()
            try await session.end()
            #expect(session.application.events == ["will", "continue"])
            #expect(session.outcomes == ["org.example.Handoff.Error.ApplicationFailed"])
        }
    }

    @Test("an error in answer to WillContinueActivity counts as false, and the activity comes all the same")
    func willContinueFails() async throws {
        try await onLoop {
            let session = try await TestSession.start()
            session.application.onWillContinue = { throw DBusError(.failed, "no") }
            try await session.continue()
            try await session.end()
            #expect(session.application.events == ["will", "continue"] && session.outcomes == [""])
        }
    }

    @Test("a fetch that fails is told to the application that waits and to the user, by the origin's name")
    func failingFetch() async throws {
        try await onLoop {
            let session = try await TestSession.start()
            session.peer.onFetch = { throw HandoffFailure(.offerWithdrawn, "Gone.") }
            try await session.continue()
            try await session.end()
            let name = "org.example.Handoff.Error.OfferWithdrawn"
            try await eventually { session.application.events.count == 2 }
            #expect(session.application.events == ["will", "failed \(name)"])
            try await eventually { session.peer.events == ["fetch", "release"] }
            #expect(session.outcomes == [name])
        }
    }

    @Test("what is fetched and breaks a rule, or is another activity than was chosen, is not delivered")
    func badActivity() async throws {
        try await onLoop {
            let bad: [(String, Value, String)] = [
                (
                    "UserInfo", .properties(["a": .objectPath(.root)]),
                    "org.freedesktop.DBus.Error.InvalidArgs"
                ),
                ("Team", .string("com.other"), "org.example.Handoff.Error.OfferWithdrawn"),
            ]
            for (key, value, name) in bad {
                let session = try await TestSession.start()
                let offer = session.offer
                session.peer.onFetch = { FakePeer.activity(of: offer).merging([key: value]) { $1 } }
                try await session.continue()
                try await session.end()
                #expect(!session.application.events.contains("continue") && session.outcomes == [name])
            }
        }
    }

    @Test("an application that never answers has had its time")
    func deadline() async throws {
        try await onLoop {
            let session = try await TestSession.start()
            session.application.onContinue = {
                try await MainLoop.sleep(for: .seconds(60))
                return true
            }
            try await session.continue()
            try await eventually { session.application.events.contains("continue") }
            session.pass(Deadline.continueActivity - .seconds(1))
            #expect(session.runner?.isRunning == true)
            session.pass(Deadline.continueActivity)
            try await session.end()
            #expect(session.outcomes == ["org.example.Handoff.Error.ApplicationTimedOut"])
            #expect(session.application.events == ["will", "continue"])
        }
    }

    @Test("a fetch that is never answered has had its time, and the application is told")
    func fetchDeadline() async throws {
        try await onLoop {
            let session = try await TestSession.start()
            session.peer.onFetch = {
                try await MainLoop.sleep(for: .seconds(60))
                return [:]
            }
            try await session.continue()
            try await eventually { session.application.events == ["will"] }
            session.pass(Deadline.fetch)
            try await session.end()
            let name = "org.example.Handoff.Error.ConnectionUnavailable"
            try await eventually { session.application.events == ["will", "failed \(name)"] }
            #expect(session.outcomes == [name])
        }
    }

    @Test("that it was continued is said again as long as the origin may hear it, even barred by it")
    func saidAgain() async throws {
        try await onLoop {
            let session = try await TestSession.start()
            session.peer.onContinued = { throw HandoffFailure(.limitsExceeded, "barred") }
            try await session.continue()
            try await eventually {
                session.peer.count("continued") == 1 && session.runner?.isRunning == false
            }
            session.peer.onContinued = {}
            try await eventually {
                session.pass(Deadline.callRetry)
                return session.peer.count("continued") == 2
            }
            try await session.end()
        }
    }

    @Test("whatever comes after the outcome, there is exactly one ContinueFinished")
    func oneOutcome() async throws {
        try await onLoop {
            let session = try await TestSession.start(streams: true)
            session.peer.onContinued = { throw HandoffFailure(.connectionUnavailable, "no link") }
            let joined = Promise<Void>()
            session.application.onContinue = {
                try await joined.get()
                return true
            }
            try await session.continue()
            // Who joins is told once, not twice.
            try await session.continue()
            joined.keep(())
            try await eventually { session.peer.count("continued") == 1 }
            let runner = try #require(session.runner)
            #expect(!runner.isRunning)
            try await session.peer.withdraw(session.offer)
            runner.stop(.disabled)
            runner.linkLost()
            runner.linkRestored()
            runner.applicationVanished(session.application.bus.uniqueName.text, isOnBus: true)
            session.pass(Deadline.withoutLink)
            try await session.end()
            try await eventually { session.peer.count("release") > 0 }
            #expect(session.outcomes == [""] && session.peer.count("release") == 1)
            #expect(session.application.events == ["will", "continue"])
        }
    }

    @Test("a revision that comes while the application makes up its mind is fetched before it is delivered")
    func revision() async throws {
        try await onLoop {
            let session = try await TestSession.start()
            let answer = Promise<Bool>()
            session.application.onWillContinue = { try await answer.get() }
            try await session.continue()
            try await eventually { session.peer.count("fetch") == 1 && !session.application.events.isEmpty }
            let newer = try Sample.offer(title: "Newer", revision: 2)
            session.peer.onFetch = { FakePeer.activity(of: newer) }
            try await session.peer.offer(newer)
            answer.keep(true)
            try await session.end()
            #expect(session.peer.count("fetch") == 2)
            #expect(session.application.activities.map { $0["Title"] } == [.string("Newer")])
            #expect(session.outcomes == [""])
        }
    }

    @Test("an offer that ends before anything was fetched ends the continuation")
    func withdrawn() async throws {
        try await onLoop {
            let session = try await TestSession.start()
            session.peer.onFetch = {
                try await MainLoop.sleep(for: .seconds(60))
                return [:]
            }
            try await session.continue()
            try await eventually { session.application.events == ["will"] }
            try await session.peer.withdraw(session.offer)
            try await session.end()
            #expect(session.outcomes == ["org.example.Handoff.Error.OfferWithdrawn"])
        }
    }
}
