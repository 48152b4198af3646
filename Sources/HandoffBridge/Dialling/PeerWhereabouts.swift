// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// Where peers were reached since this bridge began: for counting the connections that come from there, and
/// for calling back a peer that has dialled this device, since nothing else tells where it listens
/// (protocol.md, "Dialling again").
@MainLoop
final class PeerWhereabouts {
    private struct Whereabouts {
        /// The IP address at the other end of the last link.
        var host: String
        /// Where the peer said that it listens; nil if it did not.
        var callback: NetworkAddress?
        /// The bytes of this machine's address on that link; nil if they are not known.
        var localAddress: [UInt8]?
        /// How often the peer was not reached there since then.
        var failures = 0
    }

    private let state: BridgeState
    private let discovery: Discovery
    private var known: [DeviceID: Whereabouts] = [:]
    /// Where peers may come from, as last determined, and when that was.
    private var sources: (names: Set<String>, time: Int64) = ([], .min / 2)
    /// How old that may be, in microseconds: it is needed for each connection, of which somebody may make a
    /// flood.
    private static let lifeOfSources: Int64 = 1_000_000

    /// How often a peer that is not reached is called back: for about as long as a device that has gone may
    /// be about to return.
    private static let maximumFailures = Backoff.manyAtFirst

    init(_ state: BridgeState, _ discovery: Discovery) { (self.state, self.discovery) = (state, discovery) }

    /// Remembers where the peer at the other end of a paired link is.
    func remember(_ link: Link) {
        guard link.isPaired, !link.isCarried else { return }
        let port = link.received?.port ?? 0
        known[link.device] = Whereabouts(
            host: link.remoteHost,
            callback: port == 0 ? nil : NetworkAddress(host: link.remoteHost, port: port),
            localAddress: link.localAddress)
        sources.time = .min / 2
    }

    /// `device` is no longer a peer.
    func forget(_ device: DeviceID) { known[device] = nil }

    /// Where `device` has said that it listens, as long as this machine is where it was then.
    func callback(of device: DeviceID) -> NetworkAddress? {
        guard let last = known[device], let callback = last.callback else { return nil }
        if let local = last.localAddress, let own = NetworkInterface.ownAddresses(), !own.contains(local) {
            return nil
        }
        return callback
    }

    /// `device` was not reached at `address`.
    func notReached(_ device: DeviceID, at address: NetworkAddress) {
        guard known[device]?.callback == address else { return }
        known[device]?.failures += 1
        if known[device]?.failures == Self.maximumFailures { known[device]?.callback = nil }
    }

    /// Whether a peer was last reached at `source`, or announces that it is there.
    func mayBePeer(at source: String) -> Bool {
        if MainLoop.now - sources.time > Self.lifeOfSources { sources = (peerSources(), MainLoop.now) }
        return sources.names.contains(source)
    }

    private func peerSources() -> Set<String> {
        let interfaces = NetworkInterface.all()
        var hosts = known.values.map(\.host)
        for entry in state.trust.entries.values {
            hosts += entry.addresses.prefix(1).map(\.host)
            hosts += discovery.addresses(of: entry.device).map(\.host)
        }
        return Set(hosts.map { NetworkSource.name(of: $0, interfaces: interfaces) })
    }
}
