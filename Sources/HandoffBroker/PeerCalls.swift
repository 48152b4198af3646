// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// Counts the processor time of what peers ask of this session, which the bridge passes on, and has the calls of those
/// wait that have taken too much.
@MainLoop
final class PeerCalls: CallGate {
    private unowned let broker: Broker
    private lazy var times = TimeKeeper { [weak self] device in self?.bar(device) }

    /// How many calls of one peer wait; the bridge takes sixteen on each of four links.
    private static let maximumWaiting = 64

    init(_ broker: Broker) { self.broker = broker }

    func concerns(_ caller: Caller) -> Bool { caller.name == broker.bridge }

    func admit(_ call: Message, from caller: Caller, _ run: @escaping @MainLoop (DBusError?) -> Void) {
        guard let device = device(of: call) else { return run(nil) }
        guard times.waitingCount(device) < Self.maximumWaiting else {
            return run(
                .limitsExceeded(
                    "\(Self.maximumWaiting) calls of this device wait already. Wait for the answers."))
        }
        times.admit(device) { isLetIn in run(isLetIn ? nil : Self.refusal) }
    }

    /// The peer that `call` comes from, if it comes from one.
    private func device(of call: Message) -> DeviceID? {
        guard let name = call.path?.suffix(below: HandoffNames.peers), let device = DeviceID(String(name)),
            broker.peers.contains(device)
        else { return nil }
        return device
    }

    private func bar(_ device: DeviceID?) {
        guard let device else { return }
        brokerLog.warning(
            "What \(broker.peers.name(of: device)) asks took up more than \(TimeBudgets.longBudget) of"
                + " processor time in a minute: it is refused for the next minute. Unpair it if that goes on."
        )
    }

    private static let refusal = DBusError.limitsExceeded(
        "This device has asked for too much in the last minute. Try again in a minute.")
}
