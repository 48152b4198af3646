// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("Several connections of one application", .timeLimit(.minutes(1)))
struct RecipientsTests {
    private static let makesOnly = ["Receives": Value.boolean(false)]
    private static let missing = { throw DBusError(.unknownMethod, "It is not served.") } as Answer
    private typealias Answer = @MainLoop () async throws -> Bool

    /// What comes of continuing an activity of another device on the one that `body` has prepared.
    @MainLoop
    private func continued(
        _ lap: TestDevice, from desk: TestDevice
    ) async throws -> (application: String, error: String, message: String) {
        let origin = try await SessionClient(desk)
        let dock = try await SessionDock(lap)
        _ = try await origin.offer("A letter")
        try await dock.continue("A letter")
        return try #require(dock.outcomes.last)
    }

    @Test(
        "a registration with Receives false takes nothing away from the one that continues, though it came later"
    )
    func makerBesides() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let receiver = try await SessionClient(lap)
            let maker = try await SessionClient(lap, options: Self.makesOnly)
            #expect(try await continued(lap, from: desk).error.isEmpty)
            #expect(receiver.calls == ["WillContinueActivity", "ContinueActivity"] && maker.calls.isEmpty)
            // It makes activities like any other.
            let dock = try await SessionDock(desk)
            _ = try await maker.offer("From the maker")
            _ = try await dock.offer("From the maker")
        }
    }

    @Test("where nothing but a registration with Receives false is there, nothing here continues the offer")
    func makerAlone() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let maker = try await SessionClient(lap, options: Self.makesOnly)
            let (origin, dock) = (try await SessionClient(desk), try await SessionDock(lap))
            _ = try await origin.offer("A letter")
            await lap.pass(.zero)
            #expect(try await maker.manager.hiddenOffers().count == 1)
            #expect(dock.offers.isEmpty && maker.calls.isEmpty)
            // Registered anew without the option it is an application like any other.
            try await maker.register(options: [:])
            _ = try await dock.offer("A letter")
            #expect(
                await isRefused(.invalidArguments) {
                    try await maker.register(options: ["Receives": .string("no")])
                })
        }
    }

    @Test(
        "from the last to register, if it does not serve what continues, the activity goes to the one before it",
        arguments: [true, false])
    func servesNothing(lacksBoth: Bool) async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (first, last) = (try await SessionClient(lap), try await SessionClient(lap))
            last.onContinue = Self.missing
            if lacksBoth { last.onWillContinue = Self.missing }
            #expect(try await continued(lap, from: desk).error.isEmpty)
            #expect(first.calls == ["WillContinueActivity", "ContinueActivity"])
        }
    }

    @Test("so it does from one that registered an object that it does not have")
    func nowhere() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (first, last) = (try await SessionClient(lap), try await SessionClient(lap))
            try await last.register(at: "/nowhere")
            #expect(try await continued(lap, from: desk).error.isEmpty)
            #expect(first.calls == ["WillContinueActivity", "ContinueActivity"] && last.calls.isEmpty)
        }
    }

    @Test("where none has WillContinueActivity, the last to register is handed the activity")
    func withoutWillContinue() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let clients = [try await SessionClient(lap), try await SessionClient(lap)]
            for client in clients { client.onWillContinue = Self.missing }
            #expect(try await continued(lap, from: desk).error.isEmpty)
            #expect(clients.map { $0.count("ContinueActivity") } == [0, 1])
        }
    }

    @Test("an application whose object is not there has failed, and the message says what is missing, where")
    func wrongPath() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let target = try await SessionClient(lap)
            try await target.register(at: "/nowhere")
            let outcome = try await continued(lap, from: desk)
            #expect(outcome.error == HandoffFailure.Code.applicationFailed.errorName.text)
            for text in [editor, "ContinueActivity", "/nowhere", "org.freedesktop.DBus.Error.Unknown"] {
                #expect(outcome.message.contains(text))
            }
        }
    }

    @Test("an application's own error reaches the user with its message, and its name goes to the log")
    func ownError() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let target = try await SessionClient(lap)
            target.onContinue = {
                throw DBusError("com.example.editor.Error.Newer", "This letter is from a newer version.")
            }
            let outcome = try await continued(lap, from: desk)
            #expect(outcome.error == HandoffFailure.Code.applicationFailed.errorName.text)
            #expect(outcome.message.contains(editor) && outcome.message.hasSuffix("from a newer version."))
            #expect(!outcome.message.contains("Error.Newer"))
        }
    }

    @Test(
        "an answer that there is no such method, interface or object to WillSave means that there is nothing to save",
        arguments: [ErrorName.unknownMethod, .unknownInterface, .unknownObject])
    func noOpinion(error: ErrorName) async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let target = try await SessionClient(lap)
            let (origin, dock) = (try await SessionClient(desk), try await SessionDock(lap))
            origin.onWillSave = { _ in throw DBusError(error, "not here") }
            _ = try await origin.offer("A letter")
            try await dock.continue("A letter")
            #expect(dock.outcomes.map(\.error) == [""] && target.handed.count == 1)
            #expect(try await origin.manager.recentFetches().count == 1)
        }
    }
}
