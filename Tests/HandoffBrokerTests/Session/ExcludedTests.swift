// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("Applications that the user keeps out, on the bus", .timeLimit(.minutes(1)))
struct ExcludedTests {
    private static let other = "com.example.other"
    private static let team = ["Team": Value.string("com.example")]

    @Test(
        "when the user excludes an application, its activity is withdrawn from peers and stays current here; whatever the application does, nothing is offered until the user lets it in again"
    )
    func withdrawn() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let (dock, user) = (try await SessionDock(lap), SessionClient(unregisteredOn: desk))
            let activity = try await origin.offer("A letter")
            _ = try await dock.offer("A letter")
            try await user.exclude(editor)
            try await eventually { dock.offers.isEmpty }
            #expect(try await activity.current())
            try await activity.update(properties: ["Title": .string("Changed")])
            try await origin.offer("Another").resignCurrent()
            let second = try await SessionClient(desk)
            try await second.offer("Of a new connection").resignCurrent()
            try await origin.register()
            try await activity.becomeCurrent()
            for device in [desk, lap] { await device.pass(.seconds(1)) }
            #expect(dock.offers.isEmpty && dock.events.count { $0 == "InterfacesAdded" } == 1)
            let calls = origin.calls
            try await user.exclude()
            _ = try await dock.offer("Changed")
            #expect(origin.calls == calls)
            try await dock.continue("Changed")
            #expect(dock.outcomes.map(\.error) == [""] && target.handed.count == 1)
            try await eventually { origin.continued.count == 1 }
        }
    }

    @Test(
        "excluding an application concerns no other: what another one has current stays offered, and is continued"
    )
    func others() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let origin = try await SessionClient(desk, Self.other)
            let target = try await SessionClient(lap, Self.other)
            let dock = try await SessionDock(lap)
            _ = try await origin.offer("A letter")
            let path = try await dock.offer("A letter")
            try await origin.exclude(editor, Self.other + "x", "com.example")
            try await target.exclude(editor)
            for device in [desk, lap] { await device.pass(.seconds(1)) }
            #expect(Array(dock.offers.keys) == [path])
            try await dock.continue("A letter")
            #expect(dock.outcomes.map(\.error) == [""] && target.handed.count == 1)
        }
    }

    @Test(
        "an excluded application is no handler of an offer; if it was the only one the offer is hidden, and the reason names it and says what to do. Let in again it is one at once."
    )
    func noHandler() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let origin = try await SessionClient(desk, options: Self.team)
            let target = try await SessionClient(lap, options: Self.team)
            let second = try await SessionClient(lap, Self.other, options: Self.team)
            let dock = try await SessionDock(lap)
            _ = try await origin.offer("A letter")
            let path = try await dock.offer("A letter")
            func waitFor(_ handlers: String...) async throws {
                try await eventually { dock.offers[path]?["Handlers"] == .strings(handlers) }
            }
            try await waitFor(editor, Self.other)
            try await second.exclude(editor)
            try await waitFor(Self.other)
            let remote = dock.remote(path)
            #expect(
                await isRefused(.noApplication, saying: [editor, "excluded", "settings"]) {
                    try await remote.continue(options: ["ApplicationId": .string(editor)])
                })
            try await second.exclude(editor, Self.other)
            try await eventually { dock.offers.isEmpty }
            let hidden = try await second.manager.hiddenOffers()
            #expect(hidden.map { $0["ExcludedApplication"] } == [.string(editor)])
            for text in [editor, "ExcludedApplications"] {
                #expect(hidden.first?["Reason"]?.string?.contains(text) == true)
            }
            try await second.choose("ShowUnhandledOffers", .boolean(true))
            #expect(try await dock.offer("A letter") == path)
            #expect(
                await isRefused(.noApplication, saying: [editor, "excluded"]) {
                    try await remote.continue(options: [:])
                })
            try await second.exclude()
            try await waitFor(editor, Self.other)
            try await dock.continue("A letter")
            #expect(dock.outcomes.map(\.error) == [""] && target.handed.count == 1)
        }
    }

    @Test(
        "a continuation to an application that is excluded before it has been handed the activity fails and says why; the application is told, and the user gets one outcome",
        arguments: ["WillContinueActivity", "WillSave"])
    func underWay(member: String) async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            for device in [desk, lap] { device.clock.stop() }
            if member == "WillSave" {
                origin.onWillSave = { _ in try await hang() }
            } else {
                target.onWillContinue = { try await hang() }
            }
            _ = try await origin.offer("A letter", ["NeedsSave": .boolean(true)])
            try await dock.remote(try await dock.offer("A letter")).continue(options: [:])
            try await eventually {
                (origin.calls + target.calls).contains(member) && target.calls == ["WillContinueActivity"]
            }
            try await target.exclude(editor)
            try await eventually { dock.outcomes.count == 1 && dock.offers.isEmpty }
            #expect(dock.outcomes[0].application == editor)
            #expect(dock.outcomes[0].error == HandoffFailure.Code.noApplication.errorName.text)
            #expect(dock.outcomes[0].message.contains("excluded"))
            for device in [desk, lap] { await device.pass(.seconds(60)) }
            #expect(target.calls == ["WillContinueActivity", "DidFailToContinueActivity"])
            #expect(dock.outcomes.count == 1)
        }
    }

    @Test(
        "an application that is excluded while it is being handed the activity: its answer is the outcome, it is told of no failure, and it opens no stream afterwards"
    )
    func handed() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let (dock, answer) = (try await SessionDock(lap), Promise<Bool>())
            target.onContinue = { try await answer.get() }
            _ = try await origin.offer("A letter", ["SupportsContinuationStreams": .boolean(true)])
            try await dock.remote(try await dock.offer("A letter")).continue(options: [:])
            try await eventually { target.count("ContinueActivity") == 1 }
            try await target.exclude(editor)
            answer.keep(true)
            try await eventually { dock.outcomes.map(\.error) == [""] && origin.continued.count == 1 }
            #expect(target.failures.isEmpty)
            #expect(
                await isRefused([.unknownObject, .unknownMethod]) { _ = try await target.openStream() })
        }
    }

    @Test("what is excluded stays so over a restart of the broker, and counts before anything is offered")
    func restarted() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let target = try await SessionClient(lap)
            let dock = try await SessionDock(lap)
            try await SessionClient(unregisteredOn: desk).exclude(editor)
            for number in 1...3 {
                try await desk.restart()
                let origin = try await SessionClient(desk)
                #expect(try await origin.chosen()["ExcludedApplications"] == .strings([editor]))
                _ = try await origin.offer("A letter")
                let other = try await SessionClient(desk, Self.other, options: ["Team": .string(editor)])
                _ = try await other.offer("Another \(number)")
                _ = try await dock.offer("Another \(number)")
                #expect(dock.titles == ["Another \(number)"])
                #expect(dock.events.count { $0 == "InterfacesAdded" } == number)
            }
            let text = try desk.file()
            #expect(text.contains("ExcludedApplications=\(editor);"))
            try await desk.restart(with: text.replacing("ExcludedApplications=\(editor);", with: ""))
            _ = try await SessionClient(desk).offer("A letter")
            _ = try await dock.offer("A letter")
            withExtendedLifetime(target) {}
        }
    }
}
