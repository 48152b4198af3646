// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffSession
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

/// What stands in for everything around ``Discovery`` and ``Announcer``.
@MainLoop
private final class FakeDiscoveryOwner: DiscoveryOwner, AnnouncerOwner {
    let shared: TestState
    let port: UInt16 = 0
    let announcedName = ""
    var errorChanges = 0

    init() throws { shared = try TestState() }

    /// What finds devices for it, on the system bus that `connect` reaches.
    func discovery(isAllowed: Bool = true, connect: @escaping SystemBus.Connect) -> Discovery {
        Discovery(
            shared.state, self, Announcer(shared.state, self), isAllowed: isAllowed, connect: connect)
    }

    func sightingsChanged(_ device: DeviceID?) {}
    func strangersChanged() {}
    func discoveryErrorChanged() { errorChanges += 1 }
    func systemBusChanged(_ bus: Bus?) {}
    func listens(at host: String) -> Bool { true }
    func renewPort() {}
}

private struct NoBus: Error {}

@Suite("Finding devices, alone", .serialized)
struct DiscoveryTests {
    /// A program of this name on the bus, which answers nothing.
    @MainLoop
    private func program(_ name: BusName, on bus: MemoryBus) async throws -> Bus {
        let program = bus.connect()
        guard try await program.request(name) == .owned else { throw TestFailure("\(name) is taken") }
        return program
    }

    @Test("why devices are not found is said, but not while they are not to be")
    func withoutBus() async throws {
        try await onLoop {
            let owner = try FakeDiscoveryOwner()
            let discovery = owner.discovery { throw NoBus() }
            discovery.update()
            try await eventually {
                discovery.error.text == "There is no system bus, which is needed to reach Avahi."
            }
            #expect(owner.errorChanges > 0)
            owner.shared.state.handoff = .off
            #expect(discovery.error == .none)
            owner.shared.state.handoff = .on
            let forbidden = owner.discovery(isAllowed: false) { throw NoBus() }
            forbidden.update()
            #expect(forbidden.error == .none)
        }
    }

    @Test("that Avahi does not run is told from that it does not let itself be asked")
    func withoutAvahi() async throws {
        try await onLoop {
            let (bus, owner) = (MemoryBus(), try FakeDiscoveryOwner())
            let discovery = owner.discovery { bus.connect() }
            discovery.update()
            try await eventually { discovery.error.text == "Avahi is not running." }
            // The object of Avahi's server does not exist.
            let avahi = try await program("org.freedesktop.Avahi", on: bus)
            let running = try Message.signal(from: "/", "org.freedesktop.Avahi.Server", "StateChanged")
            var writer = MessageWriter(running)
            try writer.write(Int32(2))
            try writer.write("")
            try await eventually {
                try avahi.connection.send(running)
                return discovery.error.text == "Avahi does not accept questions."
            }
            #expect(owner.shared.refusals.contains { $0.hasPrefix("Devices cannot be looked for: ") })
        }
    }
}
