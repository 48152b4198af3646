// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("Who is told of what the user chooses", .timeLimit(.minutes(1)))
struct PreferenceReadersTests {
    @Test(
        "who has read all preferences at once is told of each change, once, and of nothing else that happens; who has read but one is told nothing, and a sandboxed program can read none"
    )
    func readers() async throws {
        try await onLoop {
            let device = try await oneDevice()
            let (reader, other) = (
                SessionClient(unregisteredOn: device), SessionClient(unregisteredOn: device)
            )
            let boxed = SessionClient(
                unregisteredOn: device, in: .flatpak(application: "com.example.intruder"))
            var heard: [String] = []
            let tokens = ["InterfacesAdded", "InterfacesRemoved"].map { (member: MemberName) in
                reader.bus.connection.onSignal(.objectManager, member) { _ in heard.append(member.text) }
            }
            for _ in 1...2 { _ = try await reader.chosen() }
            let object = other.object(HandoffNames.brokerPath)
            _ = try await object.property(
                PreferencesProxy.interface, "DisabledAdapters", as: [String].self)
            #expect(
                await isRefused([.unknownObject, .unknownInterface, .accessDenied]) {
                    _ = try await boxed.chosen()
                })
            let client = try await SessionClient(device)
            let activity = try await client.offer("A letter")
            try await reader.choose("Enabled", .boolean(false))
            try await client.choose("DisabledAdapters", .strings(["media"]))
            let expected: [[String: Value]] = [
                ["Enabled": .boolean(false)], ["DisabledAdapters": .strings(["media"])],
            ]
            try await eventually { reader.changes.count >= 2 }
            await device.pass(.zero)
            #expect(reader.changes == expected && heard.isEmpty)
            #expect(other.changes.isEmpty && boxed.changes.isEmpty)
            // Who follows the objects as well is told of each change once all the same.
            let everything = SessionClient(unregisteredOn: device)
            _ = try await everything.object(HandoffNames.brokerPath).managedObjects()
            _ = try await everything.chosen()
            try await client.choose("DisabledAdapters", .strings([]))
            try await eventually { reader.changes.count == 3 && !everything.changes.isEmpty }
            await device.pass(.zero)
            #expect(everything.changes == [["DisabledAdapters": .strings([])]])
            withExtendedLifetime((activity, tokens)) {}
        }
    }
}
