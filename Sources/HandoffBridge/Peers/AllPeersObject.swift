// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// Whoever keeps what is offered to all peers.
@MainLoop
protocol AllPeersOwner: AnyObject {
    /// What this device offers.
    var ownOffer: OwnOffer? { get }
    /// Offers `new` to all peers, now and on each link to come; nil if nothing is offered any more.
    func setOwnOffer(_ new: OwnOffer?)
}

/// What the broker tells all peers at once: its one offer, which is remembered for links to come.
@MainLoop
final class AllPeersObject: PeerServer {
    private let owner: any AllPeersOwner

    init(_ owner: any AllPeersOwner) { self.owner = owner }

    func offer(activity: String, summary: [String: Value], _ call: MethodCall) async throws {
        let id = try ActivityID(checking: activity)
        // What could not be sent later is refused right away.
        try SummaryTime.check(summary, of: call.message)
        owner.setOwnOffer(OwnOffer(id: id, summary: summary))
        // Peers are told before the broker is answered, but their answers are not waited for.
        await Task.yield()
    }

    func withdraw(activity: String, _ call: MethodCall) async throws {
        let id = try ActivityID(checking: activity)
        if owner.ownOffer?.id == id { owner.setOwnOffer(nil) }
    }

    private var failure: HandoffFailure {
        HandoffFailure(.notSupported, "Only Offer and Withdraw go to all peers. Call the object of one peer.")
    }

    func invite(activity: String, _ call: MethodCall) async throws { throw failure }

    func list(_ call: MethodCall) async throws -> [ListedActivity] { throw failure }

    func fetch(activity: String, continuation: String, _ call: MethodCall) async throws -> PackedProperties {
        throw failure
    }

    func park(
        activity: String, summary: [String: Value], payload: PackedProperties, _ call: MethodCall
    ) async throws { throw failure }

    func continuedParked(
        activity: String, continuation: String, revision: UInt64, _ call: MethodCall
    ) async throws { throw failure }

    func dismissed(activity: String, _ call: MethodCall) async throws { throw failure }
    func continued(continuation: String, _ call: MethodCall) async throws { throw failure }
    func release(continuation: String, _ call: MethodCall) async throws { throw failure }

    func openStream(continuation: String, _ call: MethodCall) async throws -> FileDescriptor { throw failure }
    func clipboardChanged(about: [String: Value], _ call: MethodCall) async throws { throw failure }

    func fetchClipboard(type: String, sent: String, _ call: MethodCall) async throws -> [String: Value] {
        throw failure
    }

    func openDocument(continuation: String, _ call: MethodCall) async throws -> PeerOpenDocumentReply {
        throw failure
    }
}
