// SPDX-License-Identifier: LGPL-2.1-or-later

/// The continuations of this session's activities by peers, from the first `Fetch` until `Release`, until the
/// activity is gone, until there was no link for 60 seconds, or until the activity was not offered for five minutes and
/// there is no open stream and no document on its way.
package struct OriginContinuations: Sendable {
    /// A continuation that lives.
    package struct Entry: Hashable, Sendable {
        /// The continuation.
        package let id: ContinuationID
        /// Who continues.
        package let device: DeviceID
        /// What is continued.
        package let activity: ActivityID
        /// Whether the activity was ever sent to the peer; before that, it has nothing that it could
        /// continue.
        package internal(set) var wasSent = false
        /// The URL of the document that the activity had when it was last sent; empty for none.
        package internal(set) var document = ""
        /// Whether the peer said that it has continued.
        package internal(set) var wasContinued = false
        /// How many streams are open.
        package internal(set) var openStreams = 0
        /// The connection that has these streams; empty before the first one.
        package internal(set) var connection = ""
    }

    /// What an event asks to be done, in this order.
    package enum Action: Hashable, Sendable {
        /// Tell the activity's delegate that it was continued.
        case tellWasContinued(Entry)
        /// End the streams and documents of this continuation, which is over.
        case ended(Entry)
        /// Free what this continuation has: the peer is done with it and ends its streams itself.
        case released(Entry)
    }

    /// In the order in which they began.
    private var entries: [Entry] = []
    /// Those that were released and have streams.
    private var leftovers: [Entry] = []
    /// Which continuation of each peer has a document on its way. It may be over already.
    private var documents: [DeviceID: ContinuationID] = [:]
    private var unlinked: [DeviceID: Instant] = [:]
    /// What is offered now.
    private var offered: ActivityID?
    /// For each activity that is being continued but is no longer offered: when its continuations without
    /// streams end.
    private var unoffered: [ActivityID: Instant] = [:]

    /// No continuations yet.
    package init() {}

    /// The continuation of this identifier, if it lives and `device` is the one that continues. Nothing is
    /// told of a peer's continuation to another peer.
    package func entry(_ id: ContinuationID, of device: DeviceID) -> Entry? {
        entries.first { $0.id == id && $0.device == device }
    }

    /// The activities that peers have fetched and not yet continued.
    package var awaited: Set<ActivityID> {
        Set(entries.lazy.filter { $0.wasSent && !$0.wasContinued }.map(\.activity))
    }

    /// A peer fetches `activity`, which it may if that is offered to it. It may do so as often as it likes
    /// for one continuation. If the peer has as many continuations as it may, the oldest ends to make room
    /// for a new one, preferably one without open streams: a broker that died over there could not release
    /// what it had.
    ///
    /// Fails with `offerWithdrawn` unless it is offered, and with `invalidArguments` if the continuation is of another
    /// activity.
    @discardableResult
    package mutating func fetch(
        _ activity: ActivityID, for id: ContinuationID, by device: DeviceID, isOffered: Bool
    ) throws(HandoffFailure) -> [Action] {
        guard isOffered else { throw .offerWithdrawn }
        var actions: [Action] = []
        if let known = entry(id, of: device) {
            guard known.activity == activity else {
                throw HandoffFailure(
                    .invalidArguments,
                    "Continuation \(id) is of activity \(known.activity), not of \(activity)."
                        + " Begin a new continuation for another activity.")
            }
        } else {
            let mine = entries.filter { $0.device == device }
            if let oldest = mine.first(where: isIdle) ?? mine.first,
                mine.count >= Quota.continuationsOfPeer
            {
                actions = end { $0 == oldest }
            }
            entries.append(Entry(id: id, device: device, activity: activity))
        }
        unlinked[device] = nil
        return actions
    }

    /// What the peer has fetched is sent to it, and with it that there is this document; empty for none.
    package mutating func sent(_ id: ContinuationID, to device: DeviceID, document: String = "") {
        guard let index = entries.firstIndex(where: { $0.id == id && $0.device == device }) else { return }
        entries[index].wasSent = true
        entries[index].document = document
    }

    /// What the peer wanted to fetch is not sent to it. The continuation ends, unless the activity was sent
    /// for it before.
    package mutating func refused(_ id: ContinuationID, to device: DeviceID) -> [Action] {
        guard let index = entries.firstIndex(where: { $0.id == id && $0.device == device && !$0.wasSent })
        else { return [] }
        let entry = entries.remove(at: index)
        forgetTheRest()
        return [.ended(entry)]
    }

    /// A peer says that it has continued. Repeats do nothing, but are answered as if they were the first. Fails with
    /// `unknownObject` if the continuation is over, or if the activity was never sent for it.
    package mutating func continued(
        _ id: ContinuationID, by device: DeviceID
    ) throws(HandoffFailure) -> [Action] {
        guard let index = indexOfSent(id, to: device) else { throw .unknownContinuation(id) }
        guard !entries[index].wasContinued else { return [] }
        entries[index].wasContinued = true
        return [.tellWasContinued(entries[index])]
    }

    /// A peer is done with a continuation. Any of its streams that still carry something continue to belong
    /// to the activity.
    package mutating func released(_ id: ContinuationID, by device: DeviceID) -> [Action] {
        guard let index = entries.firstIndex(where: { $0.id == id && $0.device == device }) else { return [] }
        let entry = entries.remove(at: index)
        if entry.openStreams > 0 { leftovers.append(entry) }
        forgetTheRest()
        return [.released(entry)]
    }

    private func indexOfSent(_ id: ContinuationID, to device: DeviceID) -> Int? {
        entries.firstIndex { $0.id == id && $0.device == device && $0.wasSent }
    }

    // MARK: Streams

    /// A peer opens a stream to the activity's application, which is `connection`; `relatives` are the
    /// connections of its process. Fails with `unknownObject` or `limitsExceeded`; otherwise
    /// `streamClosed(_:of:)` is to follow once, when that has succeeded or failed.
    package mutating func openStream(
        _ id: ContinuationID, of device: DeviceID, to connection: String, relatives: Set<String> = []
    ) throws(HandoffFailure) {
        guard let index = indexOfSent(id, to: device) else { throw .unknownContinuation(id) }
        let all = entries + leftovers
        let open = all.reduce(0) { $0 + ($1.connection == connection ? $1.openStreams : 0) }
        guard open < Quota.streams else { throw .tooManyStreams }
        let related = all.reduce(0) { $0 + (relatives.contains($1.connection) ? $1.openStreams : 0) }
        guard related < Quota.streams * Quota.processes else { throw .tooManyStreamsOfProcess }
        entries[index].connection = connection
        entries[index].openStreams += 1
    }

    /// A stream of the continuation is open; `streamClosed(_:of:)` is to follow once. Nothing happens if there is no such
    /// continuation.
    package mutating func streamOpened(_ id: ContinuationID, of device: DeviceID) {
        guard let index = entries.firstIndex(where: { $0.id == id && $0.device == device }) else { return }
        entries[index].openStreams += 1
    }

    /// A stream of the continuation is no longer open, or no longer being opened.
    package mutating func streamClosed(_ id: ContinuationID, of device: DeviceID) {
        if let index = leftovers.firstIndex(where: { $0.id == id && $0.device == device }) {
            leftovers[index].openStreams -= 1
            if leftovers[index].openStreams == 0 { leftovers.remove(at: index) }
        } else if let index = entries.firstIndex(where: { $0.id == id && $0.device == device }) {
            entries[index].openStreams = max(0, entries[index].openStreams - 1)
        }
    }

    // MARK: Documents

    /// A peer asks for the document of a continuation. Fails with `unknownObject`, with `notSupported` if the activity
    /// had no document when it was fetched last, or with `limitsExceeded` while another one is on its way to the peer;
    /// otherwise `documentClosed(of:)` is to follow once, when that has succeeded or failed.
    /// - Returns: the URL of the document.
    package mutating func openDocument(
        _ id: ContinuationID, of device: DeviceID
    ) throws(HandoffFailure) -> String {
        guard let index = indexOfSent(id, to: device) else { throw .unknownContinuation(id) }
        guard !entries[index].document.isEmpty else { throw .noDocument(id) }
        guard documents[device] == nil else { throw .anotherDocument }
        documents[device] = id
        return entries[index].document
    }

    /// What is no document of a continuation goes to a peer by the same way, under `id`: `documentClosed(of:)` is to follow once.
    /// - Throws: `limitsExceeded` while a document is on its way to the peer.
    package mutating func openOther(_ id: ContinuationID, of device: DeviceID) throws(HandoffFailure) {
        guard documents[device] == nil else { throw .anotherDocument }
        documents[device] = id
    }

    /// The document of a peer is no longer on its way.
    package mutating func documentClosed(of device: DeviceID) { documents[device] = nil }

    /// Whether nothing is open that a continuation would have to live for.
    private func isIdle(_ entry: Entry) -> Bool {
        entry.openStreams == 0 && documents[entry.device] != entry.id
    }

    // MARK: Ending

    /// This is what peers are offered now; nil for nothing.
    package mutating func offered(_ activity: ActivityID?, at now: Instant) {
        guard activity != offered else { return }
        if let former = offered, entries.contains(where: { $0.activity == former }) {
            unoffered[former] = now.advanced(by: Deadline.unoffered)
        }
        offered = activity
        if let activity { unoffered[activity] = nil }
    }

    /// The activity is gone.
    package mutating func activityInvalidated(_ activity: ActivityID) -> [Action] {
        end { $0.activity == activity }
    }

    /// The link to a peer is gone; its continuations live on for 60 seconds.
    package mutating func linkLost(to device: DeviceID, at now: Instant) {
        guard unlinked[device] == nil, entries.contains(where: { $0.device == device }) else { return }
        unlinked[device] = now.advanced(by: Deadline.withoutLink)
    }

    /// The links to all peers are gone, for example because the bridge has died.
    package mutating func allLinksLost(at now: Instant) {
        for device in Set(entries.map(\.device)) { linkLost(to: device, at: now) }
    }

    /// There is a link to a peer again.
    package mutating func linkRestored(to device: DeviceID) {
        unlinked[device] = nil
    }

    /// The device is no longer a peer.
    package mutating func peerRemoved(_ device: DeviceID) -> [Action] {
        end { $0.device == device }
    }

    /// Handoff was switched off.
    package mutating func disabled() -> [Action] {
        end { _ in true }
    }

    /// When `advance(to:)` has something to do; nil if time changes nothing.
    package var nextDeadline: Instant? {
        let idle = entries.compactMap { isIdle($0) ? unoffered[$0.activity] : nil }
        return (idle + unlinked.values).min()
    }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        let lost = Set(unlinked.filter { $0.value <= now }.keys)
        let past = Set(unoffered.filter { $0.value <= now }.keys)
        guard !lost.isEmpty || !past.isEmpty else { return [] }
        let idle = Set(entries.filter(isIdle).map(\.id))
        return end { lost.contains($0.device) || idle.contains($0.id) && past.contains($0.activity) }
    }

    /// Ends all continuations for which `predicate` is true.
    private mutating func end(where predicate: (Entry) -> Bool) -> [Action] {
        let ended = leftovers.filter(predicate) + entries.filter(predicate)
        leftovers.removeAll(where: predicate)
        entries.removeAll(where: predicate)
        forgetTheRest()
        return ended.map { .ended($0) }
    }

    private mutating func forgetTheRest() {
        let (devices, activities) = (Set(entries.map(\.device)), Set(entries.map(\.activity)))
        unlinked = unlinked.filter { devices.contains($0.key) }
        unoffered = unoffered.filter { activities.contains($0.key) }
    }
}
