// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("The user's switch, on the bus", .timeLimit(.minutes(1)))
struct SwitchTests {
    @Test("off: an offer that someone still remembers is not continued, and no application is asked")
    func remembered() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            _ = try await origin.offer("A letter")
            let remote = dock.remote(try await dock.offer("A letter"))
            await lap.setEnabled(false)
            let errors = Set([HandoffFailure.Code.disabled, .unknownObject].map(\.errorName))
            #expect(await isRefused(errors) { try await remote.continue(options: [:]) })
            await lap.pass(.seconds(1))
            #expect(target.calls.isEmpty && dock.outcomes.isEmpty)
        }
    }

    @Test("off: an activity may become current; it is offered when the switch is on again")
    func currentMeanwhile() async throws {
        try await onLoop {
            let (desk, lap) = try await linkedDevices()
            let (origin, target) = (try await SessionClient(desk), try await SessionClient(lap))
            let dock = try await SessionDock(lap)
            await desk.setEnabled(false)
            let activity = try await origin.offer("A letter")
            #expect(try await activity.current())
            for device in [desk, lap] { await device.pass(.seconds(1)) }
            #expect(dock.offers.isEmpty)
            await desk.setEnabled(true)
            _ = try await dock.offer("A letter")
            withExtendedLifetime(target) {}
        }
    }

    @Test(
        "a change of the switch is told to those who follow the broker, and it keeps its position over a restart"
    )
    func kept() async throws {
        try await onLoop {
            let desk = try await oneDevice()
            for isOn in [false, true] {
                let follower = SessionClient(unregisteredOn: desk)
                _ = try await follower.object(HandoffNames.brokerPath).managedObjects()
                await desk.setEnabled(isOn)
                try await eventually { follower.changes.contains(["Enabled": .boolean(isOn)]) }
                try await desk.restart()
                #expect(try await follower.manager.enabled() == isOn)
            }
        }
    }
}
