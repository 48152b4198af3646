// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("What is shown of what other devices offer", .timeLimit(.minutes(1)))
struct ShownOfferTests {
    @Test(
        "what nothing here continues is not listed but told of, with the reason; ShowUnhandledOffers lists it, at once"
    )
    func hidden() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (dock, user) = (try await SessionDock(lap), SessionClient(unregisteredOn: lap))
            _ = try await user.object(HandoffNames.brokerPath).managedObjects()
            let origin = try await SessionClient(desk)
            let activity = try await origin.offer("A letter")
            try await eventually { user.changes.contains { $0["HiddenOffers"] != nil } }
            let hidden = try await user.manager.hiddenOffers()
            let offer = try #require(hidden.first)
            #expect(
                offer.filter { !["Reason", "Since"].contains($0.key) } == [
                    "DeviceId": .string("\(desk.device.id)"), "DeviceName": .string("desk"),
                    "ActivityId": .string("\(activity.object.path.text.split(separator: "/").last ?? "")"),
                    "Title": .string("A letter"), "ActivityType": .string(editing),
                    "ApplicationId": .string(editor), "Invited": .boolean(false),
                    "ExcludedApplication": .string(""),
                ])
            let reason = try #require(offer["Reason"]?.string)
            #expect(reason.contains(editing) && reason.contains("Install"))
            #expect(dock.offers.isEmpty)
            #expect(try await SessionDock(lap).offers.isEmpty)
            try await user.choose("ShowUnhandledOffers", .boolean(true))
            let remote = dock.remote(try await dock.offer("A letter"))
            #expect(
                await isRefused(.noApplication, saying: [editing]) { try await remote.continue(options: [:]) }
            )
            #expect(try await user.manager.hiddenOffers().isEmpty)
            try await user.choose("ShowUnhandledOffers", .boolean(false))
            try await eventually { dock.offers.isEmpty }
            #expect(try await user.manager.hiddenOffers() == hidden)
            // It appears when an application comes, and goes with it.
            let target = try await SessionClient(lap)
            _ = try await dock.offer("A letter")
            #expect(try await user.manager.hiddenOffers().isEmpty)
            target.bus.leave()
            try await eventually { dock.offers.isEmpty }
            #expect(try await user.manager.hiddenOffers() == hidden)
        }
    }

    @Test("control and bidirectional characters of a peer's title are replaced, and it is cut")
    func title() async throws {
        try await onLoop {
            let lap = try await oneDevice("lap", hasBridge: false)
            let title = "a\u{1b}[31m\u{202e}b\n" + String(repeating: "x", count: 2000)
            let peer = try await FakePeer.start(
                on: lap.bus.connect(), try Sample.device(), offering: try Sample.offer(title: title))
            let target = try await SessionClient(
                lap, "com.example.notes", types: ["com.example.notes.edit"],
                options: ["Team": .string("com.example")])
            let dock = try await SessionDock(lap)
            try await eventually { dock.titles.count == 1 }
            #expect(dock.titles[0].count <= 256 && dock.titles[0].hasPrefix("a"))
            #expect(Set(dock.titles[0]).isDisjoint(with: ["\u{1b}", "\u{202e}", "\n"]))
            withExtendedLifetime((peer, target)) {}
        }
    }

    @Test(
        "what cannot be continued because its device has gone says that, and not that it is offered no longer"
    )
    func away() async throws {
        try await onLoop {
            let session = try await TestSession.start()
            try await session.peer.lose(session.offer)
            #expect(
                await isRefused(.connectionUnavailable, saying: ["Desk"]) { try await session.continue() })
            // While Handoff is off here there is no device either.
            try await session.setEnabled(false)
            #expect(await isRefused(.disabled) { try await session.continue() })
            try await session.setEnabled(true)
            try await session.peer.leave()
            #expect(await isRefused(.unknownObject) { try await session.continue() })
        }
    }

    @Test("the new name of a device is what its offers show, at once")
    func renamed() async throws {
        try await onLoop {
            let lap = try await oneDevice("lap", hasBridge: false)
            let peer = try await FakePeer.start(
                on: lap.bus.connect(), try Sample.device(), offering: try Sample.offer())
            let target = try await SessionClient(
                lap, "com.example.notes", types: ["com.example.notes.edit"],
                options: ["Team": .string("com.example")])
            let dock = try await SessionDock(lap)
            let path = try await dock.offer("Shopping")
            #expect(dock.offers[path]?["DeviceName"] == .string("Desk"))
            try await peer.rename("Other")
            try await eventually { dock.offers[path]?["DeviceName"] == .string("Other") }
            withExtendedLifetime(target) {}
        }
    }
}
