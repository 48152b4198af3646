// SPDX-License-Identifier: LGPL-2.1-or-later

/// The continuations that applications of this session hold: from `WillContinueActivity`, whose context names
/// them, until they are released.
package struct HeldContinuations: Sendable {
    /// A continuation that an application holds.
    package struct Entry: Hashable, Sendable {
        /// The continuation.
        package let id: ContinuationID
        /// The connection that it was handed to.
        package let connection: String
        /// Whether streams may be opened.
        package internal(set) var supportsStreams: Bool
        /// How many streams are open.
        package internal(set) var openStreams = 0
        /// Whether `ContinueActivity` has replied.
        package internal(set) var isDelivered = false
    }

    /// What an event asks to be done.
    package enum Action: Hashable, Sendable {
        /// Take the continuation from the application, and tell its `Continuation` that it was let go.
        case ended(ContinuationID)
    }

    /// In the order in which they began.
    private var entries: [Entry] = []
    /// Continuations without streams that ended once they had been delivered, the latest last: for each
    /// connection as many as it may hold.
    private var past: [Entry] = []

    /// No continuations yet.
    package init() {}

    /// The continuation of this identifier, if it is held.
    package subscript(id: ContinuationID) -> Entry? {
        entries.first { $0.id == id }
    }

    /// A continuation is about to be handed to a connection; `relatives` are the connections of its process.
    /// If the connection or its process holds as many as it may, the oldest that was delivered and has no
    /// open stream ends. If there is none, this fails with `limitsExceeded`.
    package mutating func began(
        _ id: ContinuationID, connection: String, supportsStreams: Bool, relatives: Set<String> = []
    ) throws(HandoffFailure) -> [Action] {
        guard self[id] == nil else {
            throw HandoffFailure(
                .invalidArguments, "Continuation \(id) is held already. Use a new identifier.")
        }
        let ended = try makeRoom(for: connection, relatives)
        entries.append(Entry(id: id, connection: connection, supportsStreams: supportsStreams))
        return ended
    }

    /// A continuation that is held goes to another connection, as if it began there. Fails as ``began`` does;
    /// then the continuation stays where it is.
    package mutating func handedOver(
        _ id: ContinuationID, to connection: String, relatives: Set<String> = []
    ) throws(HandoffFailure) -> [Action] {
        guard let former = self[id] else { throw .unknownContinuation(id) }
        guard former.connection != connection else { return [] }
        let ended = try makeRoom(for: connection, relatives)
        entries.removeAll { $0.id == id }
        entries.append(Entry(id: id, connection: connection, supportsStreams: former.supportsStreams))
        return ended
    }

    /// Makes sure that the connection may hold one more, and so may its process, whose connections are the
    /// `relatives`.
    private mutating func makeRoom(
        for connection: String, _ relatives: Set<String>
    ) throws(HandoffFailure) -> [Action] {
        var mine = entries.filter { $0.connection == connection }
        if mine.count < Quota.continuations {
            mine = entries.filter { relatives.contains($0.connection) }
            guard mine.count >= Quota.continuations * Quota.processes else { return [] }
        }
        guard let idle = mine.first(where: { $0.isDelivered && $0.openStreams == 0 }) else {
            throw .tooMany(
                "continuations of one application", limit: mine.count,
                advice: "Close the streams of one that is over, or release it, then try again.")
        }
        return end { $0.id == idle.id }
    }

    /// Whether `connection` held this continuation, which is over and had no streams.
    package func endedWithoutStreams(_ id: ContinuationID, of connection: String) -> Bool {
        past.contains { $0.id == id && $0.connection == connection }
    }

    /// The activity has arrived, so it is now certain whether it supports streams.
    package mutating func fetched(_ id: ContinuationID, supportsStreams: Bool) {
        change(id) { $0.supportsStreams = supportsStreams }
    }

    /// `ContinueActivity` has replied. If the activity has no streams, the continuation is over.
    package mutating func delivered(_ id: ContinuationID) -> [Action] {
        change(id) { $0.isDelivered = true }
        if let entry = self[id], !entry.supportsStreams { remember(entry) }
        return end { $0.id == id && !$0.supportsStreams }
    }

    /// The application released the continuation, or it failed.
    package mutating func released(_ id: ContinuationID) -> [Action] {
        end { $0.id == id }
    }

    /// The connection left the bus.
    package mutating func connectionVanished(_ connection: String) -> [Action] {
        past.removeAll { $0.connection == connection }
        return end { $0.connection == connection }
    }

    /// The application opens a stream; `relatives` are the connections of its process. Fails with `unknownObject`,
    /// `streamsNotSupported` or `limitsExceeded`; otherwise `streamClosed(_:)` is to follow once, when that has succeeded or
    /// failed.
    package mutating func openStream(
        _ id: ContinuationID, relatives: Set<String> = []
    ) throws(HandoffFailure) {
        guard let entry = self[id] else { throw .unknownContinuation(id) }
        guard entry.supportsStreams else { throw .noStreams(id) }
        let open = entries.reduce(0) { $0 + ($1.connection == entry.connection ? $1.openStreams : 0) }
        guard open < Quota.streams else { throw .tooManyStreams }
        let related = entries.reduce(0) { $0 + (relatives.contains($1.connection) ? $1.openStreams : 0) }
        guard related < Quota.streams * Quota.processes else { throw .tooManyStreamsOfProcess }
        change(id) { $0.openStreams += 1 }
    }

    /// A stream of the continuation is open; `streamClosed(_:)` is to follow once. Nothing happens if the
    /// continuation is not held.
    package mutating func streamOpened(_ id: ContinuationID) { change(id) { $0.openStreams += 1 } }

    /// A stream of the continuation is no longer open, or no longer being opened.
    package mutating func streamClosed(_ id: ContinuationID) {
        change(id) { $0.openStreams = max(0, $0.openStreams - 1) }
    }

    private mutating func remember(_ entry: Entry) {
        past.append(entry)
        let mine = past.filter { $0.connection == entry.connection }
        guard mine.count > Quota.continuations, let oldest = mine.first else { return }
        past.removeAll { $0 == oldest }
    }

    private mutating func change(_ id: ContinuationID, _ change: (inout Entry) -> Void) {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
        change(&entries[index])
    }

    /// Ends all continuations for which `predicate` is true.
    private mutating func end(where predicate: (Entry) -> Bool) -> [Action] {
        let ended = entries.filter(predicate)
        entries.removeAll(where: predicate)
        return ended.map { .ended($0.id) }
    }
}
