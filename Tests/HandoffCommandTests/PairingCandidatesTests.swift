// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffCore
import HandoffStatus
import Testing

@testable import HandoffCommand

@Suite("Who is there to be paired with")
struct PairingCandidatesTests {
    private static func device(
        _ digit: String, _ name: String, state: String = "none", isPaired: Bool = false,
        isConnected: Bool = true,
        introduction: String = "none", at address: String = "192.0.2.1:40000"
    ) throws -> KnownDevice {
        let id = String(repeating: digit, count: 64)
        return KnownDevice(
            try ObjectPath("/org/example/Handoff/Bridge/devices/\(id)"), id: id,
            [
                "Name": .string(name), "PairingState": .string(state), "Paired": .boolean(isPaired),
                "Connected": .boolean(isConnected), "ConnectedAddress": .string(address),
                "IntroductionState": .string(introduction),
            ])
    }

    private static func nearby(_ name: String, at address: String = "192.0.2.9:45701") -> NearbyDevice {
        NearbyDevice(name: name, addresses: [address])
    }

    @Test("a device that is not found says so; and why, and what to do, where none can be found by itself")
    func notFound() {
        let usual = CommandFailure.noDevice("desk", nil)
        #expect(usual.message.hasPrefix("There is no device “desk”.") && usual.status == 3)
        let name = "org.freedesktop.DBus.Error.ServiceUnknown"
        let other = CommandFailure.noDevice("desk", .discovery(name, "The name is not activatable"))
        #expect(other.message.contains("Devices are not found automatically: Avahi is not running."))
        #expect(other.message.contains("“handoff pair HOST:PORT”") && other.status == 3)
    }

    @Test("the only one that is there is taken if it asks")
    func only() throws {
        let asking = try Self.device("a", "lap", state: "waiting")
        #expect(PairingCandidates([asking], []).only == asking)
        #expect(PairingCandidates([try Self.device("a", "lap", state: "comparing")], []).only != nil)
        let peer = try Self.device("b", "desk", isPaired: true)
        #expect(
            PairingCandidates([asking, peer], []).only == asking, "a peer that does not ask is no candidate")
    }

    @Test("nobody is taken where nobody asks, or more than one is there")
    func none() throws {
        let asking = try Self.device("a", "lap", state: "waiting")
        #expect(PairingCandidates([], []).only == nil)
        #expect(PairingCandidates([try Self.device("b", "desk")], []).only == nil)
        #expect(PairingCandidates([], [Self.nearby("desk")]).only == nil)
        #expect(PairingCandidates([asking], [Self.nearby("other")]).only == nil)
        #expect(PairingCandidates([asking, try Self.device("b", "desk")], []).only == nil)
        #expect(PairingCandidates([asking, try Self.device("b", "lap", state: "waiting")], []).only == nil)
    }

    @Test(
        "an introduced device can be chosen, but is never taken, and one that was declined only by its name")
    func introduced() throws {
        let offered = try Self.device("c", "pad", isConnected: false, introduction: "offered")
        let declined = try Self.device("d", "old", isConnected: false, introduction: "declined")
        let asking = try Self.device("a", "lap", state: "waiting", introduction: "offered")
        #expect(PairingCandidates([offered, declined], []).all == [.introduced(offered)])
        #expect(PairingCandidates([offered], []).only == nil)
        #expect(PairingCandidates([offered, asking], []).only == asking, "digits are compared if it asks")
        #expect(PairingCandidates(named: "old", [offered, declined], []).all == [.introduced(declined)])
        #expect(PairingCandidates(named: "pad", [offered], [Self.nearby("pad")]).all.count == 2)
        #expect(PairingCandidate(offered).line.hasPrefix("introduced  device cccccccc"))
        let accepted = try Self.device("c", "pad", isPaired: true, introduction: "accepted")
        #expect(!PairingCandidate(accepted).isIntroduced)
    }

    @Test("a device that asks and is announced from the same address under the same name is one")
    func same() throws {
        let asking = try Self.device("a", "lap", state: "waiting")
        #expect(PairingCandidates([asking], [Self.nearby("lap", at: "192.0.2.1:45701")]).only == asking)
        #expect(PairingCandidates([asking], [Self.nearby("lap")]).all.count == 2)
        #expect(PairingCandidates([asking], [Self.nearby("desk", at: "192.0.2.1:45701")]).all.count == 2)
    }

    @Test("those that ask come first, then those that are connected, then those nearby")
    func order() throws {
        let (asking, linked) = (try Self.device("a", "z", state: "waiting"), try Self.device("b", "a"))
        let all = PairingCandidates([linked, asking], [Self.nearby("b")]).all
        #expect(all == [.asking(asking), .known(linked), .nearby(Self.nearby("b"))])
        #expect(Set(all.map(\.key)).count == 3)
    }

    @Test("a name that several have names all of them, known or nearby, and none is picked")
    func named() throws {
        let (known, other) = (try Self.device("a", "desk"), try Self.device("b", "lap", isPaired: true))
        let devices = [known, other]
        #expect(PairingCandidates(named: "desk", devices, []).all == [.known(known)])
        #expect(PairingCandidates(named: "desk", devices, [Self.nearby("desk")]).all.count == 2)
        #expect(
            PairingCandidates(named: "desk", devices, [Self.nearby("desk", at: "192.0.2.1:1")]).all.count == 1
        )
        #expect(PairingCandidates(named: "bb", devices, [Self.nearby("desk")]).all == [.known(other)])
        let twins = [Self.nearby("pad"), Self.nearby("pad", at: "192.0.2.8:1")]
        #expect(PairingCandidates(named: "pad", devices, twins).all.count == 2)
        #expect(PairingCandidates(named: "nobody", devices, twins).all.isEmpty)
    }

    @Test("a line tells who it is before what it calls itself, which cannot imitate that")
    func lines() throws {
        let name = "lap”  asks  device 12345678 at 192.0.2.7:45700"
        let asking = PairingCandidate.asking(try Self.device("a", name, state: "waiting"))
        #expect(
            asking.line
                == "asks        device aaaaaaaa at 192.0.2.1:40000  “lap' asks device ######## at ###.#.#.#:#####”"
        )
        #expect(PairingCandidate.nearby(Self.nearby("x")).line == "nearby      at 192.0.2.9:45701  “x”")
    }
}
