// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// The streams that bridges have, and the bridge's end of each, kept in case a bridge dies: if the kernel
/// closed those ends, an application that is waiting in a write would not learn that what it reads was cut.
@MainLoop
final class StreamGuards {
    /// What a stream belongs to.
    struct Owner {
        let device: DeviceID
        let continuation: ContinuationID
        /// Whether the activity is one of this session.
        let isOrigin: Bool
    }

    /// What is told of a stream: it is open, or no longer.
    enum Change { case opened, closed }

    /// Identifies a stream among those of all bridges, each of which counts from 1.
    private struct Key: Hashable {
        let bridge: BusName
        let number: UInt32
    }

    /// A stream; the descriptor is closed when this is freed.
    private final class Guard {
        let owner: Owner
        let descriptor: FileDescriptor

        init(_ owner: Owner, _ descriptor: consuming FileDescriptor) {
            self.owner = owner
            self.descriptor = descriptor
        }
    }

    /// Counts the streams of a continuation.
    private let count: @MainLoop (Owner, Change) -> Void
    private var guards: [Key: Guard] = [:]
    /// The processes of the bridges that have streams.
    private var processes: [BusName: ProcessHandle] = [:]

    private static let maximum = Peers.maximum * Quota.streamsOfPeer
    /// How long a process that has left the bus may take to end.
    private static let patience = Duration.seconds(3)

    /// Has `count` count them.
    init(_ count: @escaping @MainLoop (Owner, Change) -> Void) { self.count = count }

    /// The bridge that calls has opened a stream.
    func add(_ number: UInt32, _ owner: Owner, _ descriptor: consuming FileDescriptor, _ caller: Caller)
        throws
    {
        guard let bridge = caller.name else { return }
        guard guards.count < Self.maximum else {
            throw HandoffFailure(.limitsExceeded, "There are \(Self.maximum) streams already.")
        }
        remove(number, caller)
        guards[Key(bridge: bridge, number: number)] = Guard(owner, descriptor)
        // The process is looked up while it lives, since another one may have its id later.
        if processes[bridge] == nil {
            processes[bridge] = caller.credentials?.processID.map { ProcessHandle($0) }
        }
        count(owner, .opened)
    }

    /// A stream is over, or its bridge takes care of its end.
    func remove(_ number: UInt32, _ caller: Caller) {
        guard let bridge = caller.name else { return }
        _ = remove(Key(bridge: bridge, number: number))
    }

    private func remove(_ key: Key) -> Guard? {
        guard let former = guards.removeValue(forKey: key) else { return nil }
        if !guards.keys.contains(where: { $0.bridge == key.bridge }) { processes[key.bridge] = nil }
        count(former.owner, .closed)
        return former
    }

    /// A connection has left the bus. If it was a bridge, all its streams break.
    func vanished(_ name: BusName) {
        let process = processes[name]
        let lost = guards.keys.filter { $0.bridge == name }.compactMap(remove)
        guard !lost.isEmpty else { return }
        MainLoop.start {
            // As long as the bridge lives, it would take what follows as the end of what the applications
            // write.
            guard let process, await process.end(within: Self.patience) else { return }
            for one in lost { StreamSocket.preventWriting(to: one.descriptor.number) }
            try? await MainLoop.sleep(for: StreamSocket.lingerTime)
            withExtendedLifetime(lost) {}
        }
    }
}
