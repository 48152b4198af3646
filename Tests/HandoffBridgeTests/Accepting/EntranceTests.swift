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

/// What stands in for everything around ``OwnPlaces`` except the admission.
@MainLoop
private final class FakePlacesOwner: OwnPlacesOwner {
    var sharesPlaces = true
    var lastingPort: UInt16?
    var changes = 0
    /// The addresses of this machine.
    var hosts = ["127.0.0.2", "127.0.0.3", "127.0.0.9"]
    func listens(at host: String) -> Bool { host != "127.0.0.9" }
    func placesChanged() { changes += 1 }
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

    @Test(
        "places have a port of their own, unless there is one that stays, as long as Handoff is on and they are shared"
    )
    func places() async throws {
        try await onLoop {
            let (owner, door) = (FakePlacesOwner(), try FakeAdmissionOwner())
            let state = door.shared.state
            // None that bridges of other tests take.
            let port = UInt16.random(in: 20_000..<30_000)
            let places = OwnPlaces(state, owner, Admission(state, door), port: port) {
                (owner.hosts.compactMap { NetworkInterface.bytes(of: $0) }, false)
            }
            func isOpen(_ host: String) async -> Bool {
                let address = NetworkAddress(host: host, port: port)
                return (try? await SocketConnection.connect(to: address).close()) != nil
            }
            places.update()
            #expect(
                places.said.compactMap(\.address?.description) == ["127.0.0.2:\(port)", "127.0.0.3:\(port)"])
            #expect(owner.changes == 1)
            #expect(await isOpen("127.0.0.3"))
            #expect(await !isOpen("127.0.0.4"), "it is open at places alone")
            owner.hosts = ["127.0.0.2"]
            places.update()
            #expect(places.said.count == 2 && owner.changes == 1, "peers are not told again for ten seconds")
            #expect(await !isOpen("127.0.0.3"))
            state.handoff = .off
            places.update()
            #expect(await !isOpen("127.0.0.2"))
            #expect(places.said.count == 2, "what peers know stays true for when Handoff is on again")
            state.handoff = .on
            owner.sharesPlaces = false
            places.update()
            #expect(await !isOpen("127.0.0.2"))
            (owner.sharesPlaces, owner.lastingPort) = (true, 4)
            let others = OwnPlaces(state, owner, Admission(state, door), port: port) {
                ([[127, 0, 0, 2]], false)
            }
            others.update()
            #expect(others.said.compactMap(\.address?.description) == ["127.0.0.2:4"])
            #expect(await !isOpen("127.0.0.2"))
        }
    }

    @Test("a port that was listened on lately is not taken at random again, also after a pause")
    func recent() async throws {
        try await onLoop {
            let (owner, door) = (FakeEntranceOwner(), try FakeAdmissionOwner())
            let entrance = Entrance(door.shared.state, owner, Admission(door.shared.state, door))
            var ports: [UInt16] = []
            for _ in 0..<64 {
                entrance.open()
                ports.append(entrance.port)
                entrance.renewPort()
                ports.append(entrance.port)
                entrance.close()
            }
            for (index, port) in ports.enumerated() where Listener.ports.contains(port) {
                #expect(!ports[max(0, index - 8)..<index].contains(port))
            }
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
