// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("What an application is handed, and how", .timeLimit(.minutes(1)))
struct HandingOverTests {
    /// The origin, an application that continues, and who shows offers there; with the devices that they are on.
    @MainLoop
    private static func begin() async throws -> (
        desk: TestDevice, lap: TestDevice, origin: SessionClient, target: SessionClient, dock: SessionDock
    ) {
        let (desk, lap) = try await linkedDevices()
        let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
        return (desk, lap, origin, target, try await SessionDock(lap))
    }

    private static func tagged(_ tag: String, _ value: Value) throws -> Value {
        try .structure([.string(tag), .variant(value)])
    }

    private static func everyType() throws -> [String: Value] {
        let date = try tagged("date", .int64(-4_866_000_000_000_000))
        let number = Value.properties([
            "number": .uint32(7), "nested": .properties(["deeper": .properties([:])]),
        ])
        return [
            "string": .string("Grüße, 世界, 👋, and \"quotes\"\n\ttoo"), "empty string": .string(""),
            "true": .boolean(true), "false": .boolean(false), "byte": .byte(255), "int16": .int16(.min),
            "uint16": .uint16(.max), "int32": .int32(.min), "uint32": .uint32(.max), "int64": .int64(.min),
            "uint64": .uint64(.max), "double": .double(0.1), "infinity": .double(.infinity),
            "bytes": .bytes([UInt8](0...255)), "no bytes": .bytes([]),
            "strings": .strings(["one", "", "three"]),
            "no strings": .strings([]), "booleans": try .array(of: "b", [.boolean(true), .boolean(false)]),
            "arrays of arrays": try .array(
                of: "ai", [.array(of: "i", [.int32(1), .int32(2)]), .array(of: "i", [])]),
            "arrays of bytes": try .array(of: "ay", [.bytes([0, 1]), .bytes([])]),
            "dictionary of strings": try texts(["a": "b", "": "empty key"]),
            "dictionary of numbers": try .dictionary(
                key: "s", value: "d", [(.string("pi"), .double(3.14159))]),
            "dictionary of arrays": try .dictionary(
                key: "s", value: "as", [(.string("list"), .strings(["x", "y"]))]),
            "dictionary of anything": number, "empty dictionary": .properties([:]),
            "array of anything": try .array(of: "v", [.variant(.byte(1)), .variant(date)]),
            "array of dictionaries": try .array(of: "a{sv}", [number, .properties([:])]),
            "variant": .variant(.uint16(9)), "variant in a variant": .variant(.variant(.string("inner"))),
            "date": date, "url": try tagged("url", .string("https://example.com/ünï?q=1#f")),
            "set": try tagged("set", .array(of: "v", [.variant(.string("a")), .variant(date)])),
            "null": try tagged("null", .boolean(false)),
            "array of dates": try .array(of: "(sv)", [date, date]),
            "dictionary of dates": try .dictionary(key: "s", value: "(sv)", [(.string("one"), date)]),
            "a key with spaces, ünïcode and = ;": .string("x"),
        ]
    }

    @Test("every D-Bus type that UserInfo allows arrives with its exact type and value")
    func types() async throws {
        try await onLoop {
            let all = try Self.everyType()
            let (desk, _, origin, target, dock) = try await Self.begin()
            _ = try await origin.offer("Everything", ["UserInfo": .properties(all)])
            try await dock.continue("Everything")
            #expect(target.handed.last?.activity["UserInfo"] == .properties(all))
            withExtendedLifetime(desk) {}
        }
    }

    @Test("each property of an activity that means something elsewhere arrives with its type and value")
    func properties() async throws {
        try await onLoop {
            let (desk, _, origin, target, dock) = try await Self.begin()
            let sent: [String: Value] = [
                "Title": .string("A title — with “quotes”, 漢字 and 👋"),
                "UserInfo": .properties(["page": .uint32(7)]), "RequiredUserInfoKeys": .strings(["page"]),
                "WebpageURL": .string("https://www.example.com/a?b=c#d"),
                "ReferrerURL": .string("http://example.org/"),
                "TargetContentIdentifier": .string("content:1"),
                "PersistentIdentifier": .string("persistent:1"), "Keywords": .strings(["one", "two"]),
                "ExpirationDate": .int64(desk.clock.wall + 3_600_000_000),
                "EligibleForSearch": .boolean(true), "SupportsContinuationStreams": .boolean(true),
            ]
            try await origin.create("", sent).becomeCurrent()
            try await dock.continue("A title — with “quotes”, 漢字 and 👋")
            let arrived = try #require(target.handed.last?.activity)
            for (name, value) in sent { #expect(arrived[name] == value, "\(name)") }
            #expect(arrived["ActivityType"] == .string(editing))
            #expect(arrived["ApplicationId"] == .string(editor))
            // What is the origin's own does not, and what else does is what an activity has.
            let own = try await origin.create().object.properties(ActivityProxy.interface)
            for (name, value) in arrived {
                #expect(own[name]?.typeSignature == value.typeSignature, "\(name)")
            }
            for name in ["Current", "NeedsSave", "Delegate"] { #expect(arrived[name] == nil) }
        }
    }

    @Test("an offer shows title, type, application, device and time, and is there by itself")
    func offer() async throws {
        try await onLoop {
            let (desk, lap, origin, target, dock) = try await Self.begin()
            for device in [desk, lap] { device.clock.stop() }
            let activity = try await origin.offer("A letter")
            let path = try await dock.offer("A letter")
            let id = activity.object.path.text.split(separator: "/").last ?? ""
            #expect(path.text == "\(HandoffNames.remote.text)/\(desk.device.id)/\(id)")
            let shown = try #require(dock.offers[path])
            let expected: [String: Value] = [
                "ActivityType": .string(editing), "ApplicationId": .string(editor),
                "DeviceId": .string("\(desk.device.id)"), "DeviceName": .string("desk"),
                "Handlers": .strings([editor]), "HandlersToStart": .strings([]),
                "State": .string("available"), "Progress": .double(-1), "Since": .int64(desk.clock.wall),
                "Invited": .boolean(false),
            ]
            for (name, value) in expected { #expect(shown[name] == value, "\(name)") }
            withExtendedLifetime(target) {}
        }
    }

    @Test(
        "WillContinueActivity comes before ContinueActivity; WasContinued and ContinueFinished come exactly once"
    )
    func once() async throws {
        try await onLoop {
            let (desk, lap, origin, target, dock) = try await Self.begin()
            let activity = try await origin.offer("A letter")
            try await dock.continue("A letter")
            try await eventually { origin.continued.count == 1 }
            for device in [desk, lap] { await device.pass(.seconds(5)) }
            #expect(target.calls == ["WillContinueActivity", "ContinueActivity"])
            #expect(origin.calls == ["WillSave", "WasContinued"])
            #expect(dock.outcomes.map(\.application) == [editor] && dock.outcomes.map(\.error) == [""])
            #expect(origin.continued[0].activity == activity.object.path)
            #expect(
                origin.continued[0].device == [
                    "DeviceId": .string("\(lap.device.id)"), "DeviceName": .string("lap"),
                ])
            // What becomes of the origin's activity is for its application to decide.
            #expect(try await activity.current())
        }
    }

    @Test("both calls name the continuation and the device; the activation token comes with the second")
    func context() async throws {
        try await onLoop {
            let (desk, _, origin, target, dock) = try await Self.begin()
            _ = try await origin.offer("A letter")
            try await dock.remote(try await dock.offer("A letter")).continue(
                options: ["ActivationToken": .string("token-1"), "ApplicationId": .string(editor)])
            try await eventually { dock.outcomes.count == 1 }
            let (first, second) = (
                try #require(target.announced.first), try #require(target.handed.first).context
            )
            #expect(second == first.merging(["ActivationToken": .string("token-1")]) { $1 })
            #expect(first["ActivationToken"] == nil)
            #expect(
                first["DeviceId"] == .string("\(desk.device.id)") && first["DeviceName"] == .string("desk"))
            guard case .objectPath(let path)? = first["Continuation"] else {
                Issue.record("no continuation")
                return
            }
            #expect(path.text.hasPrefix("\(HandoffNames.brokerPath.text)/continuations/"))
        }
    }

    // MARK: The latest state

    @Test(
        "what WillSave returns when the activity is continued is what arrives, and nothing of the former state"
    )
    func lastMinute() async throws {
        try await onLoop {
            let (desk, _, origin, target, dock) = try await Self.begin()
            let newer: [String: Value] = [
                "Title": .string("Newer"), "UserInfo": .properties(["new": .string("state")]),
                "Keywords": .strings(["last"]),
            ]
            origin.onWillSave = { _ in newer }
            _ = try await origin.offer("Older", ["UserInfo": .properties(["old": .string("state")])])
            try await dock.continue("Older")
            let arrived = try #require(target.handed.last?.activity)
            #expect(arrived.filter { newer[$0.key] != nil } == newer)
            withExtendedLifetime(desk) {}
        }
    }

    @Test("if WillSave returns no UserInfo, the former stays, and entries may be added while it is asked")
    func formerStays() async throws {
        try await onLoop {
            let (desk, _, origin, target, dock) = try await Self.begin()
            let activity = try await origin.offer("A letter", ["UserInfo": .properties(["page": .int32(1)])])
            origin.onWillSave = { _ in
                try await activity.addUserInfoEntries(entries: ["line": .int32(2)])
                return [:]
            }
            try await dock.continue("A letter")
            #expect(
                target.handed.last?.activity["UserInfo"]
                    == .properties(["page": .int32(1), "line": .int32(2)]))
            withExtendedLifetime(desk) {}
        }
    }

    @Test(
        "saved and with NeedsSave unset, an activity is continued as it is; with NeedsSave it is asked again")
    func saved() async throws {
        try await onLoop {
            let (desk, _, origin, target, dock) = try await Self.begin()
            let activity = try await origin.offer("A letter", ["NeedsSave": .boolean(true)])
            try await eventually { origin.count("WillSave") == 1 }
            try await dock.continue("A letter")
            #expect(try await !activity.needsSave())
            #expect(origin.count("WillSave") == 1)
            origin.onWillSave = { _ in ["UserInfo": .properties(["second": .boolean(true)])] }
            // It is continued before it would be asked by itself.
            desk.clock.stop()
            try await activity.setNeedsSave(true)
            try await dock.continue("A letter")
            #expect(target.handed.last?.activity["UserInfo"] == .properties(["second": .boolean(true)]))
        }
    }
}
