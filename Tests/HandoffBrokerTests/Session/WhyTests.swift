// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("Why an activity does not appear, on the bus", .timeLimit(.minutes(1)))
struct WhyTests {
    @Test("who is registered is listed, with what it has, and why its current activity is not offered")
    func registered() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let client = try await SessionClient(desk)
            func entry() async throws -> [String: Value] {
                let all = try await client.manager.registeredApplications()
                #expect(all.count == 1)
                return all.first ?? [:]
            }
            let idle = try await entry()
            #expect(idle["ApplicationId"]?.string == editor && idle["ActivityTypes"]?.strings == [editing])
            #expect(idle["Activities"] == .uint32(0) && idle["Current"] == .boolean(false))
            let activity = try await client.offer("A letter")
            let offered = try await entry()
            #expect(offered["Activities"] == .uint32(1) && offered["Current"] == .boolean(true))
            #expect(offered["NotOffered"]?.string == "")
            try await activity.setEligibleForHandoff(false)
            #expect(try await entry()["NotOffered"]?.string?.contains("EligibleForHandoff") == true)
            await desk.setEnabled(false)
            #expect(try await entry()["NotOffered"]?.string?.contains("switched off") == true)
            try await client.manager.unregisterApplication()
            #expect(try await client.manager.registeredApplications().isEmpty)
        }
    }

    @Test("the last refusal of each program is listed, whether it is registered or not")
    func refused() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            let (client, other) = (try await SessionClient(desk), SessionClient(unregisteredOn: desk))
            #expect(try await client.manager.recentRefusals().isEmpty)
            #expect(await isRefused(.invalidArguments) { try await other.register(as: "no id") })
            for type in ["com.example.edti", "com.example.misspelt"] {
                #expect(
                    await isRefused(.typeNotDeclared) {
                        _ = try await client.manager.createActivity(activityType: type, properties: [:])
                    })
            }
            let refusals = try await client.manager.recentRefusals()
            #expect(refusals.map { $0["Member"]?.string } == ["CreateActivity", "RegisterApplication"])
            #expect(refusals.map { $0["ApplicationId"]?.string } == [editor, ""])
            #expect(refusals.first?["Message"]?.string?.contains("com.example.misspelt") == true)
            #expect(refusals.last?["Connection"]?.string == other.bus.uniqueName.text)
        }
    }
}
