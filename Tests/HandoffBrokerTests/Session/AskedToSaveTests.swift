// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffBroker
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("Whom the broker asks to save, and when", .timeLimit(.minutes(1)))
struct AskedToSaveTests {
    @Test("however often NeedsSave is set, WillSave runs once at a time, and at most once a second")
    func coalescing() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let client = try await SessionClient(desk)
            desk.clock.stop()
            let activity = try await client.offer("A letter")
            for count in 1...3 {
                for _ in 0..<20 { try await activity.setNeedsSave(true) }
                await desk.pass(.milliseconds(990))
                #expect(client.saves.count == count)
                await desk.pass(.milliseconds(10))
            }
            #expect(client.saves.count == 4)
        }
    }

    @Test("in WillSave an application may call anything on the same activity, even end it")
    func callingWhileAsked() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let client = try await SessionClient(desk)
            let activity = try await client.offer("A letter")
            client.onWillSave = { _ in
                try await activity.setTitle("Changed while asked")
                #expect(try await activity.title() == "Changed while asked")
                try await activity.invalidate()
                return ["Title": .string("too late")]
            }
            try await activity.setNeedsSave(true)
            try await eventually { client.count("WillSave") == 1 && desk.broker?.activityCount == 0 }
            _ = try await client.offer("Another")
        }
    }

    @Test("an activity's own Delegate is asked instead of the application's object; / unsets it")
    func delegate() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let client = try await SessionClient(desk)
            desk.clock.stop()
            let activity = try await client.offer(
                "A letter", ["Delegate": .objectPath("/delegate"), "NeedsSave": .boolean(true)])
            try await eventually { client.saves.count == 1 }
            try await activity.update(
                properties: ["Delegate": .objectPath(.root), "NeedsSave": .boolean(true)])
            await desk.pass(.seconds(1))
            try await eventually { client.saves.count == 2 }
            #expect(client.saves.map(\.asked) == ["/delegate", SessionClient.path])
        }
    }

    @Test("NeedsSave of an activity that is not current asks nobody, until it becomes current")
    func notCurrent() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let client = try await SessionClient(desk)
            let activity = try await client.create("", ["NeedsSave": .boolean(true)])
            try await activity.setNeedsSave(true)
            await desk.pass(.seconds(5))
            #expect(client.saves.isEmpty)
            try await activity.becomeCurrent()
            try await eventually { client.saves.map(\.activity) == [activity.object.path] }
        }
    }

    @Test(
        "NeedsSave that is set behind ResignCurrent, or behind another's BecomeCurrent, asks nobody, however soon",
        arguments: [true, false])
    func noLongerCurrent(resigns: Bool) async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let client = try await SessionClient(desk)
            let other = try await client.create("", ["Title": .string("Another")])
            for _ in 0..<20 {
                let activity = try await client.offer("A letter")
                let first = MainLoop.start {
                    try await resigns ? activity.resignCurrent() : other.becomeCurrent()
                }
                let second = MainLoop.start { try await activity.setNeedsSave(true) }
                try await first.value
                try await second.value
            }
            await desk.pass(.seconds(5))
            #expect(client.saves.isEmpty)
        }
    }

    @Test("WillSave clears NeedsSave; changing state later sets it again, and it is asked for again")
    func clearing() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let client = try await SessionClient(desk)
            desk.clock.stop()
            let activity = try await client.offer("A letter")
            for times in 1...2 {
                try await activity.setNeedsSave(true)
                try await eventually { client.saves.count == times }
                await desk.pass(.seconds(1))
                #expect(try await !activity.needsSave())
            }
        }
    }
}
