// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop
internal import Platform

/// Knows who the connections on the bus are that have called us. Each is looked up once and kept until it
/// leaves.
@MainLoop
final class CallerDirectory {
    private enum Entry {
        /// The bus has been asked; whatever has arrived since then waits in order.
        case asked(Waiting)
        case known(Caller)
    }

    private struct Waiting {
        var bodies: [@MainLoop (Caller) -> Void]
        var bytes: Int
    }

    /// The connections whose waiting calls have just been let through and have not run yet.
    private var admitted: Set<BusName> = []
    private unowned let bus: Bus
    private var entries: [BusName: Entry] = [:]
    /// Called when a connection that has called us has left.
    var onVanished: (@MainLoop (BusName) -> Void)?

    /// How many calls of one connection may wait for the bus to say who it is.
    private static let maximumWaiting = 16_384
    /// How many bytes the waiting calls of one connection may take, and those of all connections. It is less
    /// than libdbus reads at a time, since otherwise the answer of the bus would never be read.
    private static let (maximumBytes, maximumBytesOfAll) = (8 << 20, 32 << 20)

    /// How many bytes wait in all.
    private var waitingBytes = 0

    init(_ bus: Bus) { self.bus = bus }

    /// Whether `sender` has called us and has not left the bus since.
    func knows(_ sender: BusName) -> Bool { entries[sender] != nil }

    /// Finds out who `sender` is, and calls `body` with the result, at once or later. `size` is how many
    /// bytes wait with it in the latter case.
    /// - Returns: false if too many wait for that already.
    func identify(
        _ sender: BusName, size: @autoclosure () -> Int, _ body: @escaping @MainLoop (Caller) -> Void
    ) -> Bool {
        switch entries[sender] {
        case .known(let caller): body(caller)
        case .asked(var waiting):
            let size = size()
            guard waiting.bodies.count < Self.maximumWaiting, waiting.bytes + size <= Self.maximumBytes,
                waitingBytes + size <= Self.maximumBytesOfAll
            else { return false }
            // Taken out first, so that appending does not copy.
            entries[sender] = .asked(Waiting(bodies: [], bytes: 0))
            waiting.bodies.append(body)
            waiting.bytes += size
            waitingBytes += size
            entries[sender] = .asked(waiting)
        case nil:
            let size = size()
            // The bus is asked nevertheless, since a later call may fit.
            let fits = size <= Self.maximumBytes && waitingBytes + size <= Self.maximumBytesOfAll
            if fits { waitingBytes += size }
            entries[sender] = .asked(Waiting(bodies: fits ? [body] : [], bytes: fits ? size : 0))
            lookUp(sender)
            return fits
        }
        return true
    }

    private func lookUp(_ sender: BusName) {
        // First the match, then the question: if the connection leaves in between, either the signal or the
        // error tells.
        bus.addMatch(MatchRule.ownerChange(of: sender))
        MainLoop.start { [weak self, bus] in
            let answer = try? await bus.credentials(of: sender)
            self?.finish(sender, answer)
        }
    }

    private func finish(_ sender: BusName, _ credentials: Credentials?) {
        guard case .asked(let waiting) = entries[sender] else { return }
        guard let credentials else { return vanished(sender) }
        // This is found out once. A caller that cannot be identified counts as sandboxed for as long as it
        // stays.
        let sandbox = DescriptorLimit.withReserve { Sandbox.of(credentials) }
        let caller = Caller(name: sender, credentials: credentials, sandbox: sandbox)
        entries[sender] = .known(caller)
        waitingBytes -= waiting.bytes
        for body in waiting.bodies { body(caller) }
        // The calls that waited have become tasks; this one runs after them.
        admitted.insert(sender)
        MainLoop.start { [weak self] in _ = self?.admitted.remove(sender) }
    }

    /// The bus says that `name` no longer has an owner.
    func vanished(_ name: BusName) {
        // This runs after the calls that the connection made before it left; otherwise what they do would
        // stay forever.
        if bus.connection.finish(name, { [weak self] in self?.vanished(name) }) { return }
        guard !admitted.contains(name) else {
            MainLoop.start { [weak self] in self?.vanished(name) }
            return
        }
        guard let entry = entries.removeValue(forKey: name) else { return }
        bus.removeMatch(MatchRule.ownerChange(of: name))
        bus.connection.objects.forget(name)
        switch entry {
        case .known: onVanished?(name)
        case .asked(let waiting): waitingBytes -= waiting.bytes
        }
    }
}
