// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffBroker
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("Continuing between two devices on the bus", .timeLimit(.minutes(1)))
struct ContinuingTests {
    private static let team = ["Team": Value.string("com.example")]

    // MARK: Types and applications

    @Test(
        "without a type an activity gets the first that is declared; with none declared that is TypeNotDeclared"
    )
    func withoutType() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let two = try await SessionClient(desk, types: ["com.example.b", "com.example.a"])
            #expect(try await two.create().activityType() == "com.example.b")
            let none = try await SessionClient(desk, types: [])
            #expect(await isRefused(.typeNotDeclared) { _ = try await none.create() })
        }
    }

    @Test(
        "types that document types map to need not be declared besides, and one type may serve many of them")
    func documentTypes() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let types = [
                ("text/plain", "com.example.text"), ("text/markdown", "com.example.text"),
                ("text/html", "com.example.page"),
            ].map { (key: Value.string($0), value: Value.string($1)) }
            let options = ["DocumentTypes": try Value.dictionary(key: "s", value: "s", types)]
            let origin = try await SessionClient(desk, types: [], options: options)
            let target = try await SessionClient(lap, types: [], options: options)
            let dock = try await SessionDock(lap)
            for type in ["com.example.text", "com.example.page"] {
                try await origin.create(type, ["Title": .string(type)]).becomeCurrent()
                try await dock.continue(type)
                #expect(target.handed.last?.activity["ActivityType"] == .string(type))
            }
            #expect(await isRefused(.typeNotDeclared) { _ = try await origin.create("com.example.other") })
        }
    }

    @Test("the application that the user chooses among Handlers continues, whichever would be the best")
    func chosen() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let origin = try await SessionClient(desk, options: Self.team)
            let best = try await SessionClient(lap, options: Self.team)
            let chosen = try await SessionClient(lap, "com.example.viewer", options: Self.team)
            let dock = try await SessionDock(lap)
            _ = try await origin.offer("A letter")
            let path = try await dock.offer("A letter")
            try await eventually {
                dock.offers[path]?["Handlers"] == .strings([editor, "com.example.viewer"])
            }
            try await dock.continue("A letter", in: "com.example.viewer")
            #expect(dock.outcomes.last?.application == "com.example.viewer")
            #expect(chosen.count("ContinueActivity") == 1 && best.calls.isEmpty)
        }
    }

    // MARK: What is handed over

    @Test("the title may be set at any time, also from WillSave, and changes what peers see")
    func title() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let activity = try await origin.offer("Untitled")
            let path = try await dock.offer("Untitled")
            origin.onWillSave = { _ in ["Title": .string("Chapter one")] }
            try await activity.setNeedsSave(true)
            #expect(try await dock.offer("Chapter one") == path)
            #expect(try await activity.title() == "Chapter one")
            try await activity.setTitle("Chapter two")
            #expect(try await dock.offer("Chapter two") == path)
            withExtendedLifetime(target) {}
        }
    }

    @Test("an activity without UserInfo is legal: title or web page may be all there is to continue")
    func titleAlone() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            for more in [[:], ["WebpageURL": Value.string("https://example.com/")]] {
                let title = "Only this \(more.count)"
                _ = try await origin.offer(title, more)
                try await dock.continue(title)
                let arrived = try #require(target.handed.last?.activity)
                #expect(arrived["Title"] == .string(title) && arrived["WebpageURL"] == more["WebpageURL"])
                #expect(arrived["UserInfo"] == nil || arrived["UserInfo"] == .properties([:]))
            }
            #expect(dock.outcomes.map(\.error) == ["", ""])
        }
    }

    @Test("an activity that was never saved is saved when it is continued, without NeedsSave having been set")
    func firstSave() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            origin.onWillSave = { _ in ["UserInfo": .properties(["page": .uint32(1)])] }
            let activity = try await origin.offer("A letter")
            _ = try await dock.offer("A letter")
            #expect(origin.saves.isEmpty)
            #expect(try await !activity.needsSave())
            try await dock.continue("A letter")
            #expect(target.handed.last?.activity["UserInfo"] == .properties(["page": .uint32(1)]))
            #expect(origin.saves.count == 1)
        }
    }

    @Test("an application may update its activity unasked, and that is what arrives if it saves nothing else")
    func unasked() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            origin.onWillSave = { _ in throw DBusError(.unknownMethod, "It has no opinion.") }
            let activity = try await origin.offer("A letter")
            for page in 1...3 as ClosedRange<UInt32> {
                try await activity.setUserInfo(["page": .uint32(page)])
            }
            try await dock.continue("A letter")
            #expect(target.handed.last?.activity["UserInfo"] == .properties(["page": .uint32(3)]))
        }
    }

    @Test(
        "RequiredUserInfoKeys says what is needed for restoring later; a continuation still gets everything")
    func requiredKeys() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let state = Value.properties(["page": .uint32(1), "zoom": .double(2)])
            _ = try await origin.offer(
                "A letter", ["RequiredUserInfoKeys": .strings(["page"]), "UserInfo": state])
            try await dock.continue("A letter")
            #expect(target.handed.last?.activity["UserInfo"] == state)
            #expect(target.handed.last?.activity["RequiredUserInfoKeys"] == .strings(["page"]))
        }
    }

    @Test(
        "an empty text for a URL or identifier, / for Delegate and 0 for a date mean unset, and are not handed over"
    )
    func unset() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let activity = try await origin.offer(
                "A letter",
                [
                    "WebpageURL": .string("https://example.com/"),
                    "ReferrerURL": .string("https://example.com/from"), "Delegate": .objectPath("/delegate"),
                    "TargetContentIdentifier": .string("target"),
                    "PersistentIdentifier": .string("persistent"), "ExpirationDate": .int64(.max),
                ])
            let unset: [String: Value] = [
                "WebpageURL": .string(""), "ReferrerURL": .string(""), "DocumentURL": .string(""),
                "TargetContentIdentifier": .string(""), "PersistentIdentifier": .string(""),
                "Delegate": .objectPath(.root), "ExpirationDate": .int64(0),
            ]
            try await activity.update(properties: unset.merging(["Title": .string("Bare")]) { $1 })
            let values = try await activity.object.properties(ActivityProxy.interface)
            #expect(values.filter { unset[$0.key] != nil } == unset)
            try await dock.continue("Bare")
            let arrived = try #require(target.handed.last?.activity)
            #expect(unset.keys.allSatisfy { arrived[$0] == nil })
            #expect(origin.saves.map(\.asked) == [SessionClient.path])
        }
    }

    // MARK: What happens

    @Test("an offer that is dismissed right after Continue stays until the outcome is told")
    func dismissed() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let answer = Promise<Bool>()
            target.onContinue = { try await answer.get() }
            _ = try await origin.offer("A letter")
            let remote = dock.remote(try await dock.offer("A letter"))
            let continued = MainLoop.start { try await remote.continue(options: [:]) }
            let dismissed = MainLoop.start { try await remote.dismiss() }
            try await continued.value
            try await dismissed.value
            try await eventually { target.count("ContinueActivity") == 1 }
            answer.keep(true)
            try await eventually { dock.offers.isEmpty }
            let end = dock.events.firstIndex(of: "InterfacesRemoved") ?? 0
            #expect(dock.events.firstIndex(of: "ContinueFinished").map { $0 < end } == true)
        }
    }

    @Test(
        "WillContinueActivity comes first, with the type and no state; meanwhile the State of the offer is continuing"
    )
    func willContinue() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let answer = Promise<Bool>()
            target.onContinue = { try await answer.get() }
            _ = try await origin.offer("A letter", ["UserInfo": .properties(["secret": .string("x")])])
            let path = try await dock.offer("A letter")
            try await dock.remote(path).continue(options: [:])
            try await eventually { target.calls == ["WillContinueActivity", "ContinueActivity"] }
            #expect(
                try #require(target.announced.first).keys.sorted()
                    == ["Continuation", "DeviceId", "DeviceName"])
            try await eventually { dock.offers[path]?["State"] == .string("continuing") }
            answer.keep(true)
            try await eventually { dock.outcomes.map(\.error) == [""] }
            try await eventually { dock.offers[path]?["State"] == .string("available") }
        }
    }

    @Test("two continuations of one offer at a time share one fetch of the activity")
    func shared() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            var docks: [SessionDock] = []
            for _ in 0..<3 { docks.append(try await SessionDock(lap)) }
            let answer = Promise<Bool>()
            target.onContinue = { try await answer.get() }
            _ = try await origin.offer("A letter")
            for dock in docks + [docks[0]] {
                try await dock.remote(try await dock.offer("A letter")).continue(options: [:])
            }
            try await eventually { target.count("ContinueActivity") == 1 }
            answer.keep(true)
            try await eventually { docks.allSatisfy { !$0.outcomes.isEmpty } }
            await lap.pass(.zero)
            #expect(docks.map { $0.outcomes.map(\.error) } == [[""], [""], [""]])
            #expect(try await origin.manager.recentFetches().count == 1)
            #expect(origin.saves.count == 1 && target.count("ContinueActivity") == 1)
        }
    }

    @Test("later changes and the end of the origin's activity do not touch what an application was handed")
    func own() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let activity = try await origin.offer(
                "A letter", ["UserInfo": .properties(["page": .uint32(1)])])
            try await dock.continue("A letter")
            try await eventually { origin.count("WasContinued") == 1 }
            let handed = try #require(target.handed.last?.activity["UserInfo"])
            let own = try await target.offer("My copy", ["UserInfo": handed])
            let before = target.calls
            try await activity.setUserInfo(["page": .uint32(2)])
            try await activity.invalidate()
            try await eventually { dock.offers.isEmpty }
            #expect(try await own.userInfo() == ["page": .uint32(1)])
            #expect(target.calls == before && dock.outcomes.count == 1)
        }
    }

    @Test(
        "a continued activity stays as it is at the origin, current and offered, and can be continued again")
    func again() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            let activity = try await origin.offer("A letter")
            for times in 1...2 {
                try await dock.continue("A letter")
                try await eventually { origin.count("WasContinued") == times }
                #expect(try await activity.current())
                #expect(dock.titles == ["A letter"] && target.handed.count == times)
            }
        }
    }

    @Test("a broker that ends in the middle of everything is freed, and what it was asked fails")
    func freed() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let (dock, answer) = (try await SessionDock(lap), Promise<Bool>())
            let saved = Promise<Bool>()
            origin.onWillSave = { _ in
                _ = try await saved.get()
                return [:]
            }
            target.onContinue = { try await answer.get() }
            let first = try await origin.offer("A letter")
            try await dock.remote(try await dock.offer("A letter")).continue(options: [:])
            try await eventually { origin.saves.count == 1 }
            weak let broker = desk.broker
            desk.stop()
            saved.keep(true)
            try await eventually { dock.outcomes.count == 1 && dock.offers.isEmpty }
            #expect(dock.outcomes.first?.error.isEmpty == false)
            try await eventually { broker == nil }
            answer.keep(true)
            withExtendedLifetime((first, target)) {}
        }
    }
}
