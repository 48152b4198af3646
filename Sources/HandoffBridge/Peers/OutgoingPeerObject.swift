// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Whoever has to deal with what the broker asks of one peer.
@MainLoop
protocol OutgoingPeerOwner: AnyObject {
    /// The peer `device`; nil if the device is not a peer.
    func peer(_ device: DeviceID) -> Peer?
    /// Opens a stream for an application here that continues something from `peer`, and returns the
    /// application's end.
    func openStream(_ id: ContinuationID, of peer: Peer) async throws -> FileDescriptor
    /// Opens the document of what an application here continues from `peer`, and returns the broker's end.
    func openDocument(_ id: ContinuationID, of peer: Peer) async throws -> PeerOpenDocumentReply
    /// The continuation that owns these streams is over.
    func releaseStreams(_ owner: Stream.Owner)
}

/// Takes what the broker asks of one peer: decodes it, and asks the peer anew over the link.
@MainLoop
final class OutgoingPeerObject: PeerServer {
    private let state: BridgeState
    private let owner: any OutgoingPeerOwner
    private let device: DeviceID

    init(_ state: BridgeState, _ owner: any OutgoingPeerOwner, _ device: DeviceID) {
        (self.state, self.owner, self.device) = (state, owner, device)
    }

    func offer(activity: String, summary: [String: Value], _ call: MethodCall) async throws {
        let id = try ActivityID(checking: activity)
        try SummaryTime.checkSize(summary, of: call.message)
        let summary = try SummaryTime.forLink(summary, now: MainLoop.wallClock)
        try await peer().call("Offer of \(id)") { proxy, timeout in
            try await proxy.offer(activity: id.description, summary: summary, timeout: timeout)
        }
    }

    func withdraw(activity: String, _ call: MethodCall) async throws {
        let id = try ActivityID(checking: activity)
        try await peer().call("Withdraw of \(id)") { proxy, timeout in
            try await proxy.withdraw(activity: id.description, timeout: timeout)
        }
    }

    func invite(activity: String, _ call: MethodCall) async throws {
        try await peer().invite(try ActivityID(checking: activity))
    }

    func list(_ call: MethodCall) async throws -> [ListedActivity] {
        let peer = try peer()
        if let left = peer.listedHere { return left }
        let listed = try await peer.list()
        do {
            return try SummaryTime.forBus(listed, now: MainLoop.wallClock)
        } catch {
            throw HandoffFailure(
                .applicationFailed, "\(peer.label) has not listed what is open as it should. \(error.message)"
            )
        }
    }

    func fetch(activity: String, continuation: String, _ call: MethodCall) async throws -> PackedProperties {
        let id = try ActivityID(checking: activity)
        let continuation = try ContinuationID(checking: continuation)
        let peer = try peer()
        if let left = try peer.leftAside(id) { return left }
        peer.continuationBegan(continuation)
        peer.invitationEnded(id)
        return try await peer.call("Fetch of \(id) for continuation \(continuation)") { proxy, timeout in
            try await proxy.fetch(
                activity: id.description, continuation: continuation.description, timeout: timeout)
        }
    }

    func park(
        activity: String, summary: [String: Value], payload: PackedProperties, _ call: MethodCall
    ) async throws {
        throw HandoffFailure(
            .notSupported,
            "The bridge leaves things with other devices by itself when this machine is about to sleep.")
    }

    func continuedParked(
        activity: String, continuation: String, revision: UInt64, _ call: MethodCall
    ) async throws {
        let (id, continuation) = (
            try ActivityID(checking: activity), try ContinuationID(checking: continuation)
        )
        let peer = try peer()
        // No other broker is to be told that it is here.
        peer.dropParked(id)
        bridgeLog.message("Activity \(id), which \(peer.label) had left here, was continued.")
        try await peer.call("ContinuedParked of \(id)") { proxy, timeout in
            try await proxy.continuedParked(
                activity: id.description, continuation: continuation.description, revision: revision,
                timeout: timeout)
        }
    }

    func dismissed(activity: String, _ call: MethodCall) async throws {
        let id = try ActivityID(checking: activity)
        let peer = try peer()
        // No other broker is to be told of it.
        peer.dropKept(id)
        try await peer.tellDismissed(id)
    }

    func continued(continuation: String, _ call: MethodCall) async throws {
        let id = try ContinuationID(checking: continuation)
        try await peer().call("Continued of \(id)") { proxy, timeout in
            try await proxy.continued(continuation: id.description, timeout: timeout)
        }
    }

    func release(continuation: String, _ call: MethodCall) async throws {
        let id = try ContinuationID(checking: continuation)
        let peer = try peer()
        for isOrigin in [false, true] {
            owner.releaseStreams(Stream.Owner(device: device, continuation: id, isOrigin: isOrigin))
        }
        try await peer.call("Release of \(id)") { proxy, timeout in
            try await proxy.release(continuation: id.description, timeout: timeout)
        }
        peer.continuationEnded(id)
    }

    func openStream(continuation: String, _ call: MethodCall) async throws -> FileDescriptor {
        try await owner.openStream(try ContinuationID(checking: continuation), of: try peer())
    }

    func openDocument(continuation: String, _ call: MethodCall) async throws -> PeerOpenDocumentReply {
        try await owner.openDocument(try ContinuationID(checking: continuation), of: try peer())
    }

    func clipboardChanged(about: [String: Value], _ call: MethodCall) async throws {
        let about = try ClipboardNews.Announcement(about).about
        try await peer().call("ClipboardChanged") { proxy, timeout in
            try await proxy.clipboardChanged(about: about, timeout: timeout)
        }
    }

    func fetchClipboard(type: String, sent: String, _ call: MethodCall) async throws -> [String: Value] {
        try await peer().call("FetchClipboard") { proxy, timeout in
            try await proxy.fetchClipboard(type: type, sent: sent, timeout: timeout)
        }
    }

    private func peer() throws -> Peer {
        guard let peer = owner.peer(device) else { throw Peer.notPaired(state.label(of: device)) }
        return peer
    }
}
