// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import MainLoop
import TestSupport
import Testing

@testable import HandoffBridge

/// What stands in for everything around ``Pairings``; no link ever comes about.
@MainLoop
private final class FakePairingsOwner: PairingsOwner {
    let shared: TestState
    var addresses: [NetworkAddress] = []
    /// The result of connecting.
    var connecting: @MainLoop () async throws -> Void = {}
    var tried: [NetworkAddress] = []
    var changed: [DeviceID] = []

    init() throws { shared = try TestState() }

    func welcomesStranger(from host: String) -> Bool { false }
    func link(with device: DeviceID) -> Link? { nil }
    func knownAddresses(of device: DeviceID) -> [NetworkAddress] { addresses }
    func announces(_ address: NetworkAddress) -> Bool { false }

    func connect(to address: NetworkAddress, expecting device: DeviceID) async throws {
        tried.append(address)
        try await connecting()
    }

    func trustBegan(_ device: DeviceID) {}
    func pairingChanged(_ device: DeviceID) { changed.append(device) }
    func deviceChanged(_ device: DeviceID) { changed.append(device) }
}

private let (first, second) = (
    NetworkAddress(host: "192.0.2.1", port: 45700), NetworkAddress(host: "192.0.2.2", port: 45700)
)

@Suite("Pairing without a link, alone")
struct PairingsTests {
    @Test("a device is looked for at each address, and the last reason why it is not reached is shown")
    func reasons() async throws {
        try await onLoop {
            let (owner, other) = (try FakePairingsOwner(), try device(1))
            let pairings = Pairings(owner.shared.state, owner)
            owner.addresses = [first, second]
            owner.connecting = { [unowned owner] in
                throw HandoffFailure(.connectionUnavailable, "Reason \(owner.tried.count).")
            }
            try pairings.pair(other)
            #expect(pairings.shown(other) == ("waiting", false, "", .none))
            try await eventually { pairings.shown(other).state == "none" }
            #expect(
                pairings.shown(other)
                    == ("none", false, "", ShownError(PairingFailure(.disconnected, "Reason 2."))))
            #expect(owner.tried == [first, second])
            #expect(pairings.concerns(other) && pairings.addresses(of: other) == [first, second])
            #expect(owner.changed == [other, other], "when it began, and when it had failed")
        }
    }

    @Test("what keeps a device from being looked for is said, and what there is to do")
    func nowhere() async throws {
        try await onLoop {
            let (owner, other) = (try FakePairingsOwner(), try device(1))
            let pairings = Pairings(owner.shared.state, owner)
            try pairings.pair(other)
            try await eventually { pairings.shown(other).state == "none" }
            #expect(pairings.shown(other).error.text.hasPrefix("No address of it is known."))
            owner.addresses = [first]
            try pairings.pair(other)
            #expect(pairings.shown(other).error == .none, "a new attempt makes the former one be forgotten")
            try await eventually { pairings.shown(other).state == "none" }
            #expect(pairings.shown(other).error.text.hasPrefix("The link was lost as soon as it was there."))
        }
    }

    @Test("no pairing begins while Handoff is off, or without room for another peer")
    func refused() async throws {
        try await onLoop {
            let (owner, other) = (try FakePairingsOwner(), try device(1))
            let pairings = Pairings(owner.shared.state, owner)
            for number in 0..<TrustStore.maximumPeers {
                try owner.shared.state.trust.put(
                    TrustEntry(try device(UInt8(100 + number)), source: .pairing))
            }
            let full = #expect(throws: HandoffFailure.self) { try pairings.pair(other) }
            #expect(full?.code == .limitsExceeded)
            owner.shared.state.handoff = .off
            let off = #expect(throws: HandoffFailure.self) { try pairings.pair(other) }
            #expect(off?.code == .disabled)
            #expect(!pairings.concerns(other) && owner.changed.isEmpty)
        }
    }

    @Test("a search ends when its user cancels it, and when Handoff is switched off")
    func cancelled() async throws {
        try await onLoop {
            let (owner, other) = (try FakePairingsOwner(), try device(1))
            let pairings = Pairings(owner.shared.state, owner)
            var given = 0
            owner.addresses = [first]
            owner.connecting = {
                do { try await MainLoop.sleep(for: .seconds(60)) } catch { given += 1 }
                throw CancellationError()
            }
            for (number, (end, reason)) in [
                (
                    { pairings.cancel(other) }, PairingFailure(.ended, "The user has cancelled.")
                ),
                (
                    { pairings.stopConnecting() },
                    PairingFailure(.disabled, "Handoff was switched off.")
                ),
            ].enumerated() {
                try pairings.pair(other)
                try await eventually { owner.tried.count == number + 1 }
                end()
                #expect(pairings.shown(other) == ("none", false, "", ShownError(reason)))
                try await eventually { given == number + 1 }
                #expect(
                    pairings.shown(other).error == ShownError(reason), "the end of the search changes nothing"
                )
            }
        }
    }

    @Test("where a device is looked for, it may come from itself")
    func source() async throws {
        try await onLoop {
            let (owner, other) = (try FakePairingsOwner(), try device(1))
            let pairings = Pairings(owner.shared.state, owner)
            owner.addresses = [first, second]
            owner.connecting = { try await MainLoop.sleep(for: .seconds(60)) }
            try pairings.pair(other)
            #expect(pairings.isUnderWay(with: "192.0.2.1") && pairings.isUnderWay(with: "192.0.2.2"))
            #expect(!pairings.isUnderWay(with: "192.0.2.3"))
            pairings.cancel(other)
            #expect(!pairings.isUnderWay(with: "192.0.2.1"))
        }
    }

    @Test("of so many devices whose pairing has failed the latest sixteen are shown")
    func failures() async throws {
        try await onLoop {
            let owner = try FakePairingsOwner()
            let pairings = Pairings(owner.shared.state, owner)
            let others = try (1...17).map { try device($0) }
            for other in others {
                pairings.failed(other, PairingFailure(.refused, "It was in vain."))
                // The failures are told apart by when they happened, in microseconds.
                try await MainLoop.sleep(for: .milliseconds(1))
            }
            #expect(others.map(pairings.concerns) == [false] + Array(repeating: true, count: 16))
        }
    }
}
