// SPDX-License-Identifier: LGPL-2.1-or-later
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

/// What stands in for everything around ``Entrance`` except the admission.
@MainLoop
private final class FakeEntranceOwner: EntranceOwner {
    var configuredPort: UInt16 = 0
    var changes = 0
    func portChanged() { changes += 1 }
    func entranceReopened() {}
}

@Suite("The entrance, alone", .serialized)
struct EntranceTests {
    @Test("a port that the user chooses is listened on at once, and kept")
    func chosen() async throws {
        try await onLoop {
            let (owner, door) = (FakeEntranceOwner(), try FakeAdmissionOwner())
            let entrance = Entrance(door.shared.state, owner, Admission(door.shared.state, door))
            entrance.open()
            let former = entrance.port
            #expect(Listener.ports.contains(former) && owner.changes == 1)
            // A port that is free now.
            let free = try Listener(nil, port: 0) { _ in }.port
            owner.configuredPort = free
            entrance.portChosen()
            #expect(entrance.port == free && owner.changes == 2)
            entrance.renewPort()
            #expect(entrance.port == free)
            entrance.close()
            #expect(entrance.port == 0 && owner.changes == 3)
        }
    }

    @Test("an address that was given counts for more than the port in the settings")
    func given() async throws {
        try await onLoop {
            let (owner, door) = (FakeEntranceOwner(), try FakeAdmissionOwner())
            let entrance = Entrance(door.shared.state, owner, Admission(door.shared.state, door))
            entrance.address = NetworkAddress(host: "127.0.0.1", port: 0)
            entrance.open()
            let port = entrance.port
            owner.configuredPort = port ^ 1
            entrance.portChosen()
            #expect(entrance.port == port && owner.changes == 1)
            #expect(entrance.listens(at: "127.0.0.1") && !entrance.listens(at: "192.0.2.1"))
            entrance.close()
        }
    }
}
