// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffDaemon
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Counts the processor time that calls of peers cost, which the bridge passes on, and makes the calls of
/// peers that have used too much wait. Calls that end something are never refused, since otherwise what a
/// peer has begun could not be ended.
@MainLoop
final class PeerCalls: CallGate {
    private let peers: Peers
    private lazy var times = TimeKeeper { [weak self] device in self?.bar(device) }

    /// How many calls of one peer may wait; the bridge accepts sixteen on each of four links.
    private static let maximumWaiting = 64
    /// How many may wait when another `Release` comes: a continuation that is not released ends on its own.
    private static let maximumWithReleases = 128

    init(_ peers: Peers) { self.peers = peers }

    func concerns(_ caller: Caller) -> Bool { peers.known.isBridge(caller.name) }

    func admit(_ call: Message, from caller: Caller, _ run: @escaping @MainLoop (DBusError?) -> Void) {
        guard let device = device(of: call) else { return run(nil) }
        let maximum = Self.maximum(for: call)
        let count = times.waitingCount(device)
        guard count < maximum ?? .max else {
            return run(
                .limitsExceeded("\(count) calls of this device wait already. Wait for the answers."))
        }
        // The call goes behind those that wait already: if a Withdraw overtook its Offer, the offer would
        // stay for good.
        times.admit(device, evenIfBarred: maximum != Self.maximumWaiting) { isLetIn in
            run(isLetIn ? nil : Self.refusal)
        }
    }

    /// How many calls of its device may wait when `call` comes; nil for any number.
    private static func maximum(for call: Message) -> Int? {
        switch call.member {
        // The bridge calls this once for each offer that it has passed on, and there are few of those in a
        // second.
        case "Withdraw": nil
        case "Release", "Continued": maximumWithReleases
        default: maximumWaiting
        }
    }

    /// The peer that `call` comes from, nil if it does not come from a peer.
    private func device(of call: Message) -> DeviceID? {
        guard let name = call.path?.suffix(below: HandoffNames.peers), let device = DeviceID(String(name)),
            peers.contains(device)
        else { return nil }
        return device
    }

    private func bar(_ device: DeviceID?) {
        guard let device else { return }
        brokerLog.warning(
            "What \(peers.known.name(of: device)) asks took up more than \(TimeBudgets.longBudget) of"
                + " processor time in a minute: it is refused for the next minute. Unpair it if that continues."
        )
        // It could not say that the offer has changed.
        peers.offers.withdrawAll(from: device)
    }

    private static let refusal = DBusError.limitsExceeded(
        "This device has asked for too much in the last minute. Try again in a minute.")
}
