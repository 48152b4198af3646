// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffBroker

/// Peers to whom there is no way, each time for a reason of the test's.
@MainLoop
private final class Unreachable: PeerDirectory {
    var code = HandoffFailure.Code.connectionUnavailable
    /// Whom a way was asked for to.
    private(set) var asked: [DeviceID] = []

    func name(of device: DeviceID) -> String { "Desk" }

    func bridgePeer(_ device: DeviceID) throws -> PeerProxy {
        asked.append(device)
        throw HandoffFailure(code, "no way")
    }
}

@Suite("Ends of continuations that their origins have to be told")
struct PendingReleasesTests {
    @MainLoop
    private static func release(
        _ count: Int, with releases: PendingReleases, _ peers: Unreachable, _ device: DeviceID
    ) async throws {
        let former = peers.asked.count
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<count { releases.release(ContinuationID(using: &generator), of: device) }
        try await eventually { peers.asked.count == former + count }
    }

    @Test("what could not be told without a link is told on the next one, to the same device")
    func kept() async throws {
        try await onLoop {
            let (one, other) = (try Sample.device(1), try Sample.device(2))
            let peers = Unreachable()
            let releases = PendingReleases(peers)
            try await Self.release(1, with: releases, peers, one)
            releases.linkRestored(to: other)
            releases.linkRestored(to: one)
            try await eventually { peers.asked == [one, one] }
        }
    }

    @Test(
        "what was answered, whatever the answer, and what belongs to a device that is forgotten is not told again"
    )
    func notKept() async throws {
        try await onLoop {
            let (one, other) = (try Sample.device(1), try Sample.device(2))
            let peers = Unreachable()
            let releases = PendingReleases(peers)
            try await Self.release(1, with: releases, peers, one)
            releases.forget(one)
            peers.code = .unknownObject
            try await Self.release(1, with: releases, peers, other)
            for device in [one, other] { releases.linkRestored(to: device) }
            // Behind all that could have been asked for by now.
            try await Self.release(1, with: releases, peers, other)
            #expect(peers.asked == [one, other, other])
        }
    }

    @Test("no more are kept for a device than its origin keeps")
    func most() async throws {
        try await onLoop {
            let device = try Sample.device()
            let peers = Unreachable()
            let releases = PendingReleases(peers)
            let count = Quota.continuationsOfPeer + 3
            try await Self.release(count, with: releases, peers, device)
            peers.code = .unknownObject
            releases.linkRestored(to: device)
            try await eventually { peers.asked.count == count + Quota.continuationsOfPeer }
            try await Self.release(1, with: releases, peers, device)
            #expect(peers.asked.count == count + Quota.continuationsOfPeer + 1)
        }
    }
}
