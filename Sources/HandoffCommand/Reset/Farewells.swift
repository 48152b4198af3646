// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop

/// What peers were told of the end of their pairing.
@MainLoop
struct Farewells {
    /// The devices that know.
    let told: [KnownDevice]
    /// The devices that do not.
    let untold: [KnownDevice]
    /// The devices that are not paired with this one any more, whether or not they know.
    let unpaired: [KnownDevice]

    /// How long the devices may take to hear of it; a bridge waits two seconds for each, for all at a time.
    private static let patience = Duration.seconds(3)

    /// Ends the pairing with all devices that `bridge` trusts. One for which that fails keeps no other from being told.
    /// - Throws: if the bridge does not say which those are. Nothing has been ended then.
    init(by bridge: Daemon) async throws {
        let (changes, feed) = AsyncStream<Bool>.makeStream()
        let token = bridge.bus.connection.onSignal(.objectManager) {
            if $0.sender == bridge.name { feed.yield(true) }
        }
        defer { withExtendedLifetime(token) {} }
        let peers = try await bridge.devices(timeout: Self.patience).filter(\.isPaired)
        var unpaired: [KnownDevice] = []
        for peer in peers {
            // It may have ended the pairing itself just now.
            let device = DeviceProxy(bridge.object(peer.path))
            if (try? await device.unpair(timeout: Self.patience)) != nil { unpaired.append(peer) }
        }
        // A device that was told is not known any longer once its link has ended.
        let timer = LoopSource.timer(after: Self.patience) { feed.yield(false) }
        defer { timer.cancel() }
        var silent = Set(unpaired.filter(\.isConnected).map(\.id))
        feed.yield(true)
        for await hasTime in changes {
            // Those of which nothing is heard any more count as not told.
            guard let known = try? await bridge.devices(timeout: Self.patience) else { break }
            silent.formIntersection(known.map(\.id))
            if silent.isEmpty || !hasTime { break }
        }
        let told = unpaired.filter { $0.isConnected && !silent.contains($0.id) }
        let informed = Set(told.map(\.id))
        (self.told, self.unpaired) = (told, unpaired)
        untold = peers.filter { !informed.contains($0.id) }
    }
}
