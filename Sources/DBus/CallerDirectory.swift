// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop

/// Knows who the connections on the bus are that have called us. Each is looked up once and kept until it
/// leaves.
@MainLoop
final class CallerDirectory: Directory {
    private unowned let bus: Bus
    private var lines: [BusName: CallLine] = [:]
    /// Called when a connection that has called us has left, and what it has left behind has taken effect.
    var onVanished: (@MainLoop (BusName) -> Void)?

    init(_ bus: Bus) { self.bus = bus }

    /// Whether `sender` has called us and has not left the bus since.
    func knows(_ sender: BusName) -> Bool { lines[sender] != nil }

    func line(of sender: BusName?) -> CallLine? { sender.map { line(of: $0) } }

    func knownLine(of sender: BusName?) -> CallLine? { sender.flatMap { lines[$0] } }

    /// The line of `sender`, a unique name. The bus is asked who that is, if that is not known yet.
    func line(of sender: BusName) -> CallLine {
        if let line = lines[sender] { return line }
        let line = CallLine(nil)
        lines[sender] = line
        lookUp(sender)
        return line
    }

    private func lookUp(_ sender: BusName) {
        // First the match, then the question: if the connection leaves in between, either the signal or the
        // error tells.
        bus.addMatch(MatchRule.ownerChange(of: sender))
        MainLoop.start { [weak self, bus] in
            // This is found out once. A caller that cannot be identified counts as sandboxed for as long as it
            // stays.
            let caller = await bus.caller(sender)
            guard let self, let line = lines[sender], line.caller == nil else { return }
            if let caller { line.identify(caller) } else { vanished(sender) }
        }
    }

    /// The bus says that `name` no longer has an owner.
    func vanished(_ name: BusName) {
        // This runs after the calls that the connection made before it left; otherwise what they do would
        // stay forever.
        if bus.connection.finish(name, { [weak self] in self?.vanished(name) }) { return }
        guard let line = lines[name] else { return }
        line.leave { [weak self] in self?.forget(name, line) }
    }

    private func forget(_ name: BusName, _ line: CallLine) {
        lines[name] = nil
        bus.removeMatch(MatchRule.ownerChange(of: name))
        bus.connection.objects.forget(name)
        if line.caller != nil { onVanished?(name) }
    }
}
