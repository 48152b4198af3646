// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("A continuation that goes wrong, on the bus", .timeLimit(.minutes(1)))
struct FailingTests {
    /// Two devices, with an activity of one that an application of the other continues.
    @MainLoop
    private final class Session {
        let desk: TestDevice
        let lap: TestDevice
        let origin: SessionClient
        let target: SessionClient
        let dock: SessionDock
        let activity: ActivityProxy
        let path: ObjectPath

        init(_ properties: [String: Value] = [:], options: [String: Value] = [:]) async throws {
            (desk, lap) = try await linkedDevices()
            origin = try await SessionClient(desk, options: options)
            target = try await SessionClient(lap, options: options)
            dock = try await SessionDock(lap)
            activity = try await origin.offer("A letter", properties)
            path = try await dock.offer("A letter")
        }

        /// The user continues it, and it is asked to be saved, which takes for ever.
        func beginToSave() async throws {
            origin.onWillSave = { _ in try await hang() }
            for device in [desk, lap] { device.clock.stop() }
            try await dock.remote(path).continue(options: [:])
            try await eventually { origin.count("WillSave") == 1 }
            try await eventually { target.count("WillContinueActivity") == 1 }
        }

        /// The one outcome is this error, the application is told the same, and the origin not that all went well.
        func expectFailure(_ codes: [HandoffFailure.Code]) async throws {
            try await eventually { !dock.outcomes.isEmpty }
            let error = dock.outcomes[0].error
            #expect(codes.map(\.errorName.text).contains(error) && !dock.outcomes[0].message.isEmpty)
            if target.missing.isEmpty { try await eventually { target.failures == [error] } }
            for device in [desk, lap] { await device.pass(.seconds(1)) }
            #expect(target.count("WillContinueActivity") == 1 && target.handed.isEmpty)
            #expect(dock.outcomes.count == 1 && origin.continued.isEmpty)
        }
    }

    @Test(
        "a member that the application does not implement means no opinion, and all goes well",
        arguments: ["WillContinueActivity", "WillSave", "WasContinued"])
    func noOpinion(member: String) async throws {
        try await onLoop {
            let session = try await Session(["UserInfo": .properties(["page": .int32(1)])])
            session.origin.missing = [member]
            session.target.missing = [member]
            try await session.dock.continue("A letter")
            #expect(session.dock.outcomes.map(\.error) == [""])
            #expect(
                session.target.handed.map { $0.activity["UserInfo"] } == [.properties(["page": .int32(1)])])
        }
    }

    @Test(
        "what ends while it is being saved is a failure that the user and the application are told, if it can be, and the offer goes",
        arguments: [
            "it is invalidated", "it cannot be told", "its application leaves", "switched off",
            "the link is cut",
        ])
    func ends(how: String) async throws {
        try await onLoop {
            let session = try await Session()
            if how == "it cannot be told" { session.target.missing = ["DidFailToContinueActivity"] }
            try await session.beginToSave()
            switch how {
            case "its application leaves": session.origin.bus.leave()
            case "switched off": await session.lap.setEnabled(false)
            case "the link is cut": session.desk.disconnect()
            default: try await session.activity.invalidate()
            }
            let code: [HandoffFailure.Code] =
                switch how {
                case "switched off": [.disabled]
                case "the link is cut": [.connectionUnavailable, .offerWithdrawn]
                default: [.offerWithdrawn]
                }
            try await session.expectFailure(code)
            try await eventually { session.dock.offers.isEmpty }
            // The outcome comes before the object goes.
            let ends = session.dock.events.filter { ["ContinueFinished", "InterfacesRemoved"].contains($0) }
            #expect(ends == ["ContinueFinished", "InterfacesRemoved"])
        }
    }

    @Test(
        "WillSave that fails or takes over two seconds does not lose the activity: the last state is handed off",
        arguments: ["silence", "an error", "a refused property", "another type"])
    func savingFails(way: String) async throws {
        try await onLoop {
            let last = Value.properties(["last": .string("state")])
            let session = try await Session(["UserInfo": last])
            let new = Value.properties(["new": .string("x")])
            session.origin.onWillSave = { _ in
                switch way {
                case "silence": try await hang()
                case "an error": throw DBusError("com.example.Full", "The disk is full.")
                case "another type": ["UserInfo": new, "Title": .uint32(1)]
                default: ["UserInfo": new, "WebpageURL": .string("not a URL")]
                }
            }
            session.desk.clock.stop()
            try await session.dock.remote(session.path).continue(options: [:])
            if way == "silence" {
                try await eventually { session.origin.count("WillSave") == 1 }
                await session.desk.pass(.milliseconds(1990))
                #expect(session.target.handed.isEmpty)
                await session.desk.pass(.milliseconds(10))
            }
            try await eventually { session.dock.outcomes.map(\.error) == [""] }
            #expect(session.target.handed.map { $0.activity["UserInfo"] } == [last])
        }
    }

    // MARK: The user

    @Test(
        "an application that is not among Handlers is refused, before anything begins; so is a wrong option")
    func wrongOptions() async throws {
        try await onLoop {
            let session = try await Session()
            let remote = session.dock.remote(session.path)
            for (name, value, text) in [
                ("ApplicationId", Value.string("com.example.other"), "com.example.other"),
                ("ActivationToken", .uint32(1), "ActivationToken"),
            ] {
                #expect(
                    await isRefused(.invalidArguments, saying: [text]) {
                        try await remote.continue(options: [name: value])
                    })
            }
            await session.lap.pass(.zero)
            #expect(session.target.calls.isEmpty && session.dock.outcomes.isEmpty)
        }
    }

    @Test("a Continue that names another application than the running continuation's is refused")
    func joining() async throws {
        try await onLoop {
            let team = ["Team": Value.string("com.example")]
            let session = try await Session(options: team)
            let other = try await SessionClient(session.lap, "com.example.viewer", options: team)
            let remote = session.dock.remote(session.path)
            try await eventually {
                session.dock.offers[session.path]?["Handlers"] == .strings([editor, "com.example.viewer"])
            }
            session.target.onContinue = { try await hang() }
            try await remote.continue(options: ["ApplicationId": .string(editor)])
            try await eventually { session.target.count("ContinueActivity") == 1 }
            for more in [[:], ["Remember": Value.boolean(true)]] {
                #expect(
                    await isRefused(.invalidArguments) {
                        try await remote.continue(
                            options: more.merging(["ApplicationId": .string("com.example.viewer")]) { $1 })
                    })
            }
            #expect(try await other.chosen()["Applications"] == texts([:]))
            #expect(other.calls.isEmpty && session.dock.outcomes.isEmpty)
        }
    }
}
