// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// What the guards of streams need from the session.
@MainLoop
protocol StreamGuardsOwner: AnyObject {
    /// The continuations of this session's activities, which count their streams.
    var origin: OriginContinuations { get set }
    /// The continuations of peers' activities here, which count their streams.
    var held: HeldContinuations { get set }
    /// Whether there is a continuation of this id here, of an activity of `device`.
    func isContinuing(_ id: ContinuationID, of device: DeviceID) -> Bool
}

extension Broker: StreamGuardsOwner {
    func isContinuing(_ id: ContinuationID, of device: DeviceID) -> Bool { runners[id]?.device == device }
}

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

    private unowned let owner: any StreamGuardsOwner
    private var guards: [Key: Guard] = [:]
    /// The processes of the bridges that have streams.
    private var processes: [BusName: ProcessHandle] = [:]

    private static let maximum = Peers.maximum * Quota.streamsOfPeer
    /// How long a process that has left the bus may take to end.
    private static let patience = Duration.seconds(3)

    init(_ owner: any StreamGuardsOwner) { self.owner = owner }

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
        if owner.isOrigin {
            self.owner.origin.streamOpened(owner.continuation, of: owner.device)
        } else if self.owner.isContinuing(owner.continuation, of: owner.device) {
            self.owner.held.streamOpened(owner.continuation)
        }
    }

    /// A stream is over, or its bridge takes care of its end.
    func remove(_ number: UInt32, _ caller: Caller) {
        guard let bridge = caller.name else { return }
        _ = remove(Key(bridge: bridge, number: number))
    }

    private func remove(_ key: Key) -> Guard? {
        guard let former = guards.removeValue(forKey: key) else { return nil }
        if !guards.keys.contains(where: { $0.bridge == key.bridge }) { processes[key.bridge] = nil }
        if former.owner.isOrigin {
            owner.origin.streamClosed(former.owner.continuation, of: former.owner.device)
        } else {
            owner.held.streamClosed(former.owner.continuation)
        }
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
