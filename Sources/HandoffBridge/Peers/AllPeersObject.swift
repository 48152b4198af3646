// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// What the broker tells all peers at once: its one offer, which is remembered for links to come.
@MainLoop
final class AllPeersObject: PeerServer {
    private let bridge: Bridge

    init(_ bridge: Bridge) { self.bridge = bridge }

    func offer(activity: String, summary: [String: Value], _ call: MethodCall) async throws {
        let id = try ActivityID(checking: activity)
        // What could not be sent later is refused now.
        _ = try SummaryTime.forLink(summary, now: MainLoop.wallClock)
        bridge.setOwnOffer(OwnOffer(id: id, summary: summary))
        // Peers are told before the broker is answered, which does not wait for it.
        await Task.yield()
    }

    func withdraw(activity: String, _ call: MethodCall) async throws {
        let id = try ActivityID(checking: activity)
        if bridge.ownOffer?.id == id { bridge.setOwnOffer(nil) }
    }

    private var failure: HandoffFailure {
        HandoffFailure(.notSupported, "Only Offer and Withdraw go to all peers. Call the object of one peer.")
    }

    func fetch(activity: String, continuation: String, _ call: MethodCall) async throws -> [String: Value] {
        throw failure
    }

    func continued(continuation: String, _ call: MethodCall) async throws { throw failure }
    func release(continuation: String, _ call: MethodCall) async throws { throw failure }

    func openStream(continuation: String, _ call: MethodCall) async throws -> FileDescriptor { throw failure }

    func openDocument(continuation: String, _ call: MethodCall) async throws -> PeerOpenDocumentReply {
        throw failure
    }
}
