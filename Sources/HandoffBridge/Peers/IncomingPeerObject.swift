// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Whoever has to deal with what a peer asks.
@MainLoop
protocol IncomingPeerOwner: AnyObject {
    /// The peer `device`; nil if the device is not a peer.
    func peer(_ device: DeviceID) -> Peer?
    /// What waits here for devices that were away.
    var outbox: Outbox { get }
    /// Whether Handoff is on.
    var isOn: Bool { get }
    /// What takes the calls of the peer `device`, which has asked for something.
    /// - Throws: if there is no broker that has been told of the peer.
    func callee(of device: DeviceID) async throws -> PeerProxy
}

/// Takes what a peer asks over a link: decodes it, and asks the broker anew.
@MainLoop
final class IncomingPeerObject: PeerServer {
    private let owner: any IncomingPeerOwner
    private weak var link: Link?

    init(_ owner: any IncomingPeerOwner, _ link: Link) {
        self.owner = owner
        self.link = link
    }

    func offer(activity: String, summary: [String: Value], _ call: MethodCall) async throws {
        let (peer, link) = try peer()
        let id = try ActivityID(checking: activity)
        try SummaryTime.checkSize(summary, of: call.message)
        let summary = try SummaryTime.forBus(summary, now: MainLoop.wallClock)
        try await peer.offered(id, summary, over: link)
    }

    func withdraw(activity: String, _ call: MethodCall) async throws {
        try await peer().peer.withdrawn(try ActivityID(checking: activity))
    }

    func invite(activity: String, _ call: MethodCall) async throws {
        try await peer().peer.invited(try ActivityID(checking: activity))
    }

    func list(_ call: MethodCall) async throws -> [ListedActivity] {
        let listed = try await route("List") { try await $0.list(timeout: Peer.timeout) }
        return try SummaryTime.forLink(listed, now: MainLoop.wallClock)
    }

    func fetch(activity: String, continuation: String, _ call: MethodCall) async throws -> PackedProperties {
        let id = try ActivityID(checking: activity)
        let continuation = try ContinuationID(checking: continuation)
        let peer = try peer().peer
        if owner.isOn, let kept = owner.outbox.fetch(id, for: continuation, by: peer) { return kept }
        return try await route("Fetch of \(id) for continuation \(continuation)") { broker in
            try await broker.fetch(
                activity: id.description, continuation: continuation.description, timeout: Peer.timeout)
        }
    }

    func park(
        activity: String, summary: [String: Value], payload: PackedProperties, _ call: MethodCall
    ) async throws {
        let (peer, link) = try peer()
        let id = try ActivityID(checking: activity)
        try SummaryTime.checkSize(summary)
        let summary = try SummaryTime.forBus(summary, now: MainLoop.wallClock)
        try await peer.left(id, summary, payload, over: link)
    }

    func continuedParked(
        activity: String, continuation: String, revision: UInt64, _ call: MethodCall
    ) async throws {
        let (id, continuation) = (
            try ActivityID(checking: activity), try ContinuationID(checking: continuation)
        )
        guard try peer().peer.mayHaveContinued(id, continuation) else { throw HandoffFailure.notLeft(id) }
        try await route("ContinuedParked of \(id)") {
            try await $0.continuedParked(
                activity: id.description, continuation: continuation.description, revision: revision)
        }
    }

    func dismissed(activity: String, _ call: MethodCall) async throws {
        owner.outbox.dismissed(try ActivityID(checking: activity), by: try peer().peer.device)
    }

    func continued(continuation: String, _ call: MethodCall) async throws {
        let id = try ContinuationID(checking: continuation)
        if owner.outbox.continued(id, by: try peer().peer.device) { return }
        try await route("Continued of \(id)") { try await $0.continued(continuation: id.description) }
    }

    func release(continuation: String, _ call: MethodCall) async throws {
        let id = try ContinuationID(checking: continuation)
        if owner.outbox.released(id, by: try peer().peer.device) { return }
        try await route("Release of \(id)") { try await $0.release(continuation: id.description) }
    }

    func openStream(continuation: String, _ call: MethodCall) async throws -> FileDescriptor {
        throw HandoffFailure.notHere("OpenStream")
    }

    func openDocument(continuation: String, _ call: MethodCall) async throws -> PeerOpenDocumentReply {
        throw HandoffFailure.notHere("OpenDocument")
    }

    func clipboardChanged(about: [String: Value], _ call: MethodCall) async throws {
        let about = try ClipboardNews.Announcement(about).about
        try await route("ClipboardChanged") { try await $0.clipboardChanged(about: about) }
    }

    func fetchClipboard(type: String, sent: String, _ call: MethodCall) async throws -> [String: Value] {
        try await route("FetchClipboard") {
            try await $0.fetchClipboard(type: type, sent: sent, timeout: Peer.timeout)
        }
    }

    private func peer() throws -> (peer: Peer, link: Link) {
        guard let link, let peer = owner.peer(link.device) else { throw Peer.notPaired("This device") }
        return (peer, link)
    }

    private func route<Result: Sendable>(
        _ what: String, _ ask: @MainLoop (PeerProxy) async throws -> Result
    ) async throws -> Result {
        let peer = try peer().peer
        let broker = try await owner.callee(of: peer.device)
        let start = MainLoop.now
        defer { bridgeLog.debug("\(what) by \(peer.label) took \((MainLoop.now - start) / 1000) ms here.") }
        do {
            return try await ask(broker)
        } catch {
            throw HandoffFailure(routed: error)
        }
    }
}
