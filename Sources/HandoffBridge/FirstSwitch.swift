// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop

/// Holds back what programs call until a bridge that has just begun knows whether Handoff is on, and so listens or does not:
/// before, nothing that it says of itself would be true. The broker, which is to tell, is let through.
@MainLoop
final class FirstSwitch: CallGate {
    /// The broker that is on the bus; nil while there is none.
    private let broker: @MainLoop () -> BusName?
    private var isOver = false
    /// What is held back, in the order in which it came.
    private var held: [@MainLoop (DBusError?) -> Void] = []
    private var bytes = 0

    /// How many calls may be held back, and how many bytes they may take. Once there are more, nobody waits any longer.
    private static let (maximumCount, maximumBytes) = (256, 4 << 20)

    init(broker: @escaping @MainLoop () -> BusName?) { self.broker = broker }

    func concerns(_ caller: Caller) -> Bool { !isOver && caller.name != broker() }

    func admit(_ call: Message, from caller: Caller, _ run: @escaping @MainLoop (DBusError?) -> Void) {
        held.append(run)
        bytes += call.marshalledSize
        if held.count > Self.maximumCount || bytes > Self.maximumBytes { end() }
    }

    /// It is known whether Handoff is on.
    func end() {
        guard !isOver else { return }
        isOver = true
        let all = held
        held = []
        for run in all { run(nil) }
    }
}
