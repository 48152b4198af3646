// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffBroker
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("What clients can have the broker keep, on the bus", .timeLimit(.minutes(1)))
struct QuotaTests {
    private static func bulk(_ size: Int) -> Value {
        .properties(["bulk": .string(String(repeating: "x", count: size))])
    }

    @Test(
        "forty connections of one process may have 256 activities together, and 16 MiB",
        arguments: [1000, 128 << 10])
    func process(size: Int) async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let text = size == 1000 ? "256" : "\(16 << 20)"
            var (count, isNamed, clients) = (0, false, [SessionClient]())
            for number in 0..<40 {
                let client = try await SessionClient(desk, "com.example.hoarder\(number)")
                clients.append(client)
                while await !isRefused(
                    .limitsExceeded, { _ = try await client.create("", ["UserInfo": Self.bulk(size - 64)]) })
                { count += 1 }
                isNamed =
                    await isRefused(.limitsExceeded, saying: [text, "process"]) {
                        _ = try await client.create("", ["UserInfo": Self.bulk(size - 64)])
                    } || isNamed
            }
            #expect(count == (size == 1000 ? 256 : 128) && isNamed)
        }
    }

    @Test(
        "four connections of a process may declare 256 types each; the fifth is told that it is too many, until one of them leaves"
    )
    func types() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let types = (0..<256).map { "com.example.type\($0)" }
            var clients: [SessionClient] = []
            for number in 0..<4 {
                clients.append(try await SessionClient(desk, "com.example.many\(number)", types: types))
            }
            let late = SessionClient(unregisteredOn: desk)
            #expect(
                await isRefused(.limitsExceeded, saying: ["1024", "process"]) { try await late.register() })
            clients[0].bus.leave()
            try await eventually { desk.broker?.registeredApplications.count == 3 }
            try await late.register()
        }
    }

    @Test(
        "an update that would go beyond the quota is refused with what there is and what to do, and changes nothing"
    )
    func update() async throws {
        try await onLoop {
            let client = try await SessionClient(try await oneDevice())
            var activities: [ActivityProxy] = []
            for _ in 0..<63 {
                activities.append(try await client.create("", ["UserInfo": Self.bulk(131_000)]))
            }
            try await activities[62].update(
                properties: ["TargetContentIdentifier": .string(String(repeating: "x", count: 60_000))])
            let more = try await client.create("", ["Title": .string("More")])
            let change = ["UserInfo": Self.bulk(131_000), "Title": .string("Changed")]
            #expect(
                await isRefused(.limitsExceeded, saying: ["\(8 << 20)", "stream"]) {
                    try await more.update(properties: change)
                })
            #expect(try await more.title() == "More")
            #expect(try await more.userInfo() == [:])
            try await activities[0].invalidate()
            try await more.update(properties: change)
            #expect(try await more.title() == "Changed")
        }
    }

    @Test("many small texts come back as they were")
    func small() async throws {
        try await onLoop {
            let client = try await SessionClient(try await oneDevice())
            let keywords = (0..<16_000).map { $0 % 2 == 0 ? "" : "ä" }
            let activity = try await client.create(
                "",
                ["Keywords": .strings(keywords), "RequiredUserInfoKeys": .strings(Array(keywords[..<2]))])
            #expect(try await activity.keywords() == keywords)
            #expect(try await activity.requiredUserInfoKeys() == ["", "ä"])
        }
    }

    // MARK: What is said of it

    @Test("a type that is not reverse-DNS gets a warning in the log, once")
    func unusualType() async throws {
        try await onLoop {
            LoggedLines.begin()
            let desk = try await oneDevice()
            let type = "Brief schreiben \(desk.device.id.description.prefix(8))"
            for _ in 1...3 { _ = try await SessionClient(desk, types: [type]).create() }
            #expect(LoggedLines.with(type).count { $0.contains("reverse-DNS") } == 1)
        }
    }

    @Test("UserInfo of more than 3 KiB logs a hint to use streams, once for each type, and is taken")
    func hint() async throws {
        try await onLoop {
            LoggedLines.begin()
            let desk = try await oneDevice()
            let types = ["one", "two"].map { "com.example.\($0)\(desk.device.id.description.prefix(8))" }
            let client = try await SessionClient(desk, types: types)
            for type in types {
                for size in [2000, 4000, 4000] {
                    let activity = try await client.create(type, ["UserInfo": Self.bulk(size)])
                    try await activity.update(properties: ["UserInfo": Self.bulk(size)])
                    #expect(try await activity.userInfo().count == 1)
                }
                #expect(LoggedLines.with(type).count { $0.contains("through a stream") } == 1)
            }
        }
    }
}
