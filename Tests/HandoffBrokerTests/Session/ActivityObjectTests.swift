// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffBroker
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("The life of an activity on the bus", .timeLimit(.minutes(1)))
struct ActivityObjectTests {
    @Test("at most one activity of a session is current and offered, whichever application it is of")
    func replacing() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let one = try await SessionClient(desk)
            let other = try await SessionClient(desk, "com.example.mail", types: ["com.example.mail.write"])
            let dock = try await SessionDock(lap)
            let targets = [
                try await SessionClient(lap),
                try await SessionClient(lap, "com.example.mail", types: ["com.example.mail.write"]),
            ]
            let letter = try await one.offer("A letter")
            _ = try await dock.offer("A letter")
            let mail = try await other.offer("A mail")
            try await eventually { dock.titles == ["A mail"] }
            #expect(try await [letter.current(), mail.current()] == [false, true])
            try await letter.becomeCurrent()
            try await eventually { dock.titles == ["A letter"] }
            // Once more changes nothing.
            let events = dock.events
            try await letter.becomeCurrent()
            await lap.pass(.zero)
            #expect(dock.events == events && targets.allSatisfy { $0.calls.isEmpty })
        }
    }

    @Test("ResignCurrent withdraws the offer and keeps the activity; resigning again does nothing")
    func resigning() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let activity = try await origin.offer("A letter")
            let path = try await dock.offer("A letter")
            try await activity.resignCurrent()
            try await eventually { dock.offers.isEmpty }
            try await activity.resignCurrent()
            #expect(try await !activity.current())
            #expect(try await activity.title() == "A letter")
            try await activity.becomeCurrent()
            #expect(try await dock.offer("A letter") == path)
            withExtendedLifetime(target) {}
        }
    }

    @Test("Invalidate removes the activity from all devices; any later call is UnknownObject")
    func invalidating() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let activity = try await origin.offer("A letter")
            _ = try await dock.offer("A letter")
            try await activity.invalidate()
            try await eventually { dock.offers.isEmpty }
            let calls: [@MainLoop () async throws -> Void] = [
                { try await activity.becomeCurrent() }, { try await activity.resignCurrent() },
                { try await activity.leaveCurrent() }, { try await activity.becomeOpen() },
                { try await activity.invalidate() }, { try await activity.update(properties: [:]) },
                { _ = try await activity.title() }, { try await activity.addUserInfoEntries(entries: [:]) },
            ]
            for call in calls { #expect(await isRefused(.unknownObject, call)) }
            let objects = try await origin.object(HandoffNames.brokerPath).managedObjects()
            #expect(objects[activity.object.path] == nil)
            withExtendedLifetime(target) {}
        }
    }

    @Test("the activities of a client that vanishes are gone, on both devices")
    func vanishing() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let activity = try await origin.offer("A letter")
            _ = try await dock.offer("A letter")
            origin.bus.leave()
            try await eventually { dock.offers.isEmpty }
            let other = SessionClient(unregisteredOn: desk)
            let objects = try await other.object(HandoffNames.brokerPath).managedObjects()
            #expect(objects[activity.object.path] == nil)
            withExtendedLifetime(target) {}
        }
    }

    @Test("UnregisterApplication invalidates the caller's activities; then it cannot create any")
    func unregistering() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let origin = try await SessionClient(desk)
            let activity = try await origin.offer("A letter")
            try await origin.manager.unregisterApplication()
            #expect(await isRefused(.unknownObject) { try await activity.becomeCurrent() })
            #expect(await isRefused(.notRegistered) { _ = try await origin.create() })
            #expect(await isRefused(.notRegistered) { try await origin.manager.unregisterApplication() })
        }
    }

    @Test("registering again replaces what was declared and keeps the activities")
    func registeringAgain() async throws {
        try await onLoop {
            let client = try await SessionClient(try await oneDevice())
            let activity = try await client.create("", ["Title": .string("Kept")])
            client.types = ["com.example.editor.view"]
            try await client.register()
            #expect(try await activity.title() == "Kept")
            await #expect {
                try await client.create(editing)
            } throws: { error in
                let error = DBusError.converting(error)
                return error.name == HandoffFailure.Code.typeNotDeclared.errorName
                    && error.message.contains(editing) && error.message.contains("com.example.editor.view")
            }
            #expect(try await client.create().activityType() == "com.example.editor.view")
        }
    }

    @Test("changing the title of the current activity changes its offer; in a burst the latest wins")
    func title() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let activity = try await origin.offer("Title 0")
            let path = try await dock.offer("Title 0")
            for number in 1...50 {
                MainLoop.start { try? await activity.setTitle("Title \(number)") }
            }
            #expect(try await dock.offer("Title 50") == path)
            #expect(dock.events.count { $0 == "PropertiesChanged" } <= 25)
            withExtendedLifetime(target) {}
        }
    }

    @Test("EligibleForHandoff false: current, but not offered; a change takes effect at once")
    func eligibility() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let activity = try await origin.offer("A letter", ["EligibleForHandoff": .boolean(false)])
            #expect(try await activity.current())
            await lap.pass(.zero)
            #expect(dock.offers.isEmpty)
            try await activity.setEligibleForHandoff(true)
            _ = try await dock.offer("A letter")
            try await activity.setEligibleForHandoff(false)
            try await eventually { dock.offers.isEmpty }
            #expect(try await activity.current())
            withExtendedLifetime(target) {}
        }
    }

    @Test("after ExpirationDate an activity is no longer offered; a date in the past withdraws it at once")
    func expiration() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            desk.clock.stop()
            let later = Value.int64(desk.clock.wall + 3_600_000_000)
            let activity = try await origin.offer("A letter", ["ExpirationDate": later])
            let path = try await dock.offer("A letter")
            await desk.pass(.seconds(3599))
            #expect(dock.titles == ["A letter"])
            await desk.pass(.seconds(1))
            try await eventually { dock.offers.isEmpty }
            try await activity.setExpirationDate(desk.clock.wall + 3_600_000_000)
            #expect(try await dock.offer("A letter") == path)
            try await activity.setExpirationDate(1)
            try await eventually { dock.offers.isEmpty }
            try await activity.setExpirationDate(0)
            _ = try await dock.offer("A letter")
            withExtendedLifetime(target) {}
        }
    }

    // MARK: Properties

    @Test("what is set is what is read; UserInfo is replaced by setting and merged by AddUserInfoEntries")
    func readBack() async throws {
        try await onLoop {
            let client = try await SessionClient(try await oneDevice())
            let activity = try await client.create(
                "", ["UserInfo": .properties(["a": .byte(1), "b": .strings([])])])
            try await activity.addUserInfoEntries(entries: ["b": .string("new"), "c": .double(1)])
            #expect(
                try await activity.userInfo() == ["a": .byte(1), "b": .string("new"), "c": .double(1)])
            try await activity.setUserInfo(["only": .boolean(true)])
            #expect(try await activity.userInfo() == ["only": .boolean(true)])
            try await activity.setTitle("By Set")
            try await activity.setWebpageURL("https://example.com/")
            try await activity.setWebpageURL("")
            #expect(try await activity.title() == "By Set")
            #expect(try await activity.webpageURL().isEmpty)
        }
    }

    @Test("a new activity has the documented defaults, and its owner reads them all")
    func defaults() async throws {
        try await onLoop {
            let client = try await SessionClient(try await oneDevice())
            let activity = try await client.create()
            let values = try await activity.object.properties(ActivityProxy.interface)
            #expect(
                values == [
                    "ActivityType": .string(editing), "ApplicationId": .string(editor),
                    "Current": .boolean(false), "Title": .string(""), "UserInfo": .properties([:]),
                    "RequiredUserInfoKeys": .strings([]), "WebpageURL": .string(""),
                    "DocumentURL": .string(""), "ReferrerURL": .string(""),
                    "TargetContentIdentifier": .string(""), "PersistentIdentifier": .string(""),
                    "Keywords": .strings([]), "ExpirationDate": .int64(0),
                    "EligibleForHandoff": .boolean(true), "EligibleForSearch": .boolean(false),
                    "SupportsContinuationStreams": .boolean(false), "NeedsSave": .boolean(false),
                    "Delegate": .objectPath(.root),
                ])
        }
    }

    @Test(
        "Current is told to the owner and to whoever follows the objects, NeedsSave to the owner alone, each once"
    )
    func told() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let (owner, other) = (
                try await SessionClient(desk), try await SessionClient(desk, "com.example.other")
            )
            let follower = SessionClient(unregisteredOn: desk)
            for one in [owner, follower] {
                _ = try await one.object(HandoffNames.brokerPath).managedObjects()
            }
            let activity = try await owner.offer("A letter")
            try await activity.setNeedsSave(true)
            try await eventually { owner.changes.contains(["NeedsSave": .boolean(false)]) }
            try await other.create().becomeCurrent()
            let loss: [String: Value] = ["Current": .boolean(false)]
            try await eventually { owner.changes.contains(loss) && follower.changes.contains(loss) }
            await desk.pass(.zero)
            for one in [owner, follower] { #expect(one.changes.count { $0 == loss } == 1) }
            #expect(owner.changes.contains(["Current": .boolean(true)]))
            #expect((other.changes + follower.changes).allSatisfy { $0["NeedsSave"] == nil })
            #expect(!other.changes.contains(loss))
        }
    }

    // MARK: Order

    @Test(
        "calls sent without waiting for answers, the first of a connection among them, take effect in order")
    func order() async throws {
        try await onLoop {
            let client = SessionClient(unregisteredOn: try await oneDevice())
            let registered = MainLoop.start { try await client.register() }
            let created = (0..<5).map { _ in
                MainLoop.start { try await client.create().object.path }
            }
            let unregistered = MainLoop.start { try await client.manager.unregisterApplication() }
            let late = MainLoop.start { await isRefused(.notRegistered) { _ = try await client.create() } }
            try await registered.value
            var paths: Set<ObjectPath> = []
            for one in created { paths.insert(try await one.value) }
            try await unregistered.value
            #expect(paths.count == 5)
            #expect(await late.value)
        }
    }

    @Test(
        "updates sent in a row are all applied, the last one last, and one refused in between changes nothing"
    )
    func pipelined() async throws {
        try await onLoop {
            let client = try await SessionClient(try await oneDevice())
            let activity = try await client.create()
            let answers = (0..<200).map { number in
                let title = number % 3 == 0 ? Value.uint32(UInt32(number)) : .string("Title \(number)")
                return MainLoop.start {
                    await isRefused(.invalidArguments) {
                        try await activity.update(properties: ["Title": title])
                    }
                }
            }
            for (number, answer) in answers.enumerated() { #expect(await answer.value == (number % 3 == 0)) }
            #expect(try await activity.title() == "Title 199")
        }
    }

    @Test("two connections may hold one application id: each keeps its activities, the latest continues")
    func sharedID() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let origin = try await SessionClient(desk)
            let (first, second) = (try await SessionClient(lap), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let activity = try await first.create("", ["Title": .string("of the first")])
            let asSecond = ActivityProxy(second.object(activity.object.path))
            #expect(await isRefused(.accessDenied) { try await asSecond.setTitle("of the second") })
            _ = try await origin.offer("A letter")
            try await dock.continue("A letter")
            #expect(second.count("ContinueActivity") == 1 && first.calls.isEmpty)
            second.bus.leave()
            try await eventually { lap.broker?.registeredApplications.count == 1 }
            try await dock.continue("A letter")
            #expect(first.count("ContinueActivity") == 1)
        }
    }
}
