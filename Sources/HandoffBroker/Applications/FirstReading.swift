// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop

/// What reads the desktop entries.
@MainLoop
protocol InstalledReader: AnyObject {
    /// Makes sure that the desktop entries are being read.
    func readInstalled()
    /// The desktop entries have not been read in time: what is known of them so far counts.
    func useWhatIsKnownOfInstalled()
}

/// Holds back, until the desktop entries have been read for the first time, the calls whose outcome depends on what they
/// say: those of the bridge, which bring the offers that installed applications continue, and registrations, together with
/// what the same connection calls afterwards, so that its calls take effect in the order in which they were sent. All
/// others are let through. Nobody waits longer than ``patience``, or once too much waits: then what is known so far has to
/// do.
@MainLoop
final class FirstReading: CallGate {
    private struct Held {
        let call: Message
        let caller: Caller
        let run: @MainLoop (DBusError?) -> Void
    }

    private let reader: any InstalledReader
    /// Whether this is the bridge.
    private let isBridge: @MainLoop (BusName) -> Bool
    /// What decides about calls that are not held back.
    private let next: any CallGate
    private var isOver = false
    /// What is held back, in the order in which it came.
    private var held: [Held] = []
    /// How many calls of a connection are held back, and how many bytes they take.
    private var shares: [BusName: (count: Int, bytes: Int)] = [:]
    private var bytes = 0
    private var timer: LoopSource?

    /// How long calls are held back for: longer than a slow disk takes after the start of the machine, and shorter than
    /// programs wait for an answer.
    static let patience = Duration.seconds(2)
    /// How many calls of one connection may be held back, and how many bytes they may take.
    private static let (maximumCount, maximumBytes) = (512, 8 << 20)
    /// How many calls are held back in all, and how many bytes they take. They go on at once, so that there must not be
    /// more than can be answered while others hardly notice.
    private static let (maximumCountOfAll, maximumBytesOfAll) = (1024, 32 << 20)

    init(
        _ reader: any InstalledReader, isBridge: @escaping @MainLoop (BusName) -> Bool, next: any CallGate
    ) {
        (self.reader, self.isBridge, self.next) = (reader, isBridge, next)
    }

    func concerns(_ caller: Caller) -> Bool { !isOver || next.concerns(caller) }

    func admit(_ call: Message, from caller: Caller, _ run: @escaping @MainLoop (DBusError?) -> Void) {
        guard !isOver, let name = caller.name, depends(call, of: name) else {
            return pass(Held(call: call, caller: caller, run: run))
        }
        let (size, share) = (call.marshalledSize, shares[name] ?? (0, 0))
        guard share.count < Self.maximumCount, share.bytes + size <= Self.maximumBytes else {
            return run(
                .limitsExceeded(
                    "Too many calls wait until the desktop entries have been read. Wait for the answers."))
        }
        shares[name] = (share.count + 1, share.bytes + size)
        bytes += size
        held.append(Held(call: call, caller: caller, run: run))
        begin()
        // Nobody is refused what others have used up.
        if held.count >= Self.maximumCountOfAll || bytes > Self.maximumBytesOfAll { useWhatIsKnown() }
    }

    private func depends(_ call: Message, of name: BusName) -> Bool {
        isBridge(name) || shares[name] != nil || call.member == "RegisterApplication"
    }

    private func begin() {
        guard timer == nil else { return }
        timer = .timer(after: Self.patience) { [weak self] in self?.useWhatIsKnown() }
        reader.readInstalled()
    }

    private func useWhatIsKnown() {
        reader.useWhatIsKnownOfInstalled()
        end()
    }

    private func pass(_ one: Held) {
        guard next.concerns(one.caller) else { return one.run(nil) }
        next.admit(one.call, from: one.caller, one.run)
    }

    /// The entries have been read, or nothing waits for that any longer: what was held back goes on.
    func end() {
        guard !isOver else { return }
        isOver = true
        timer?.cancel()
        timer = nil
        let all = held
        (held, shares, bytes) = ([], [:], 0)
        for one in all { pass(one) }
    }

    /// `name` has left the bus. It is not to be registered after that.
    func vanished(_ name: BusName) {
        guard let share = shares.removeValue(forKey: name) else { return }
        bytes -= share.bytes
        held.removeAll { $0.caller.name == name }
    }
}
