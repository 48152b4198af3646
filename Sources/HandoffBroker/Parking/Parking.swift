// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What of this session goes to peers with its state: before the machine sleeps, and for a device that is away.
@MainLoop
final class Parking {
    private let activities: OwnActivities
    private let sharedFolders: KnownFolders

    init(_ activities: OwnActivities, _ sharedFolders: KnownFolders) {
        (self.activities, self.sharedFolders) = (activities, sharedFolders)
    }

    /// What is offered, with its state.
    ///
    /// The network may be cut at any moment. So an application that says what holds for the moment only, such as the position in
    /// a film, has ``Deadline/parkingSave`` to say it once more; else the state counts that was saved last.
    /// - Throws: `OfferWithdrawn` if nothing is to be left anywhere.
    func park() async throws -> PeerManagerParkReply {
        let preferences = activities.applications.preferences
        guard preferences.parks else {
            throw Self.nothing("the user does not want that")
        }
        guard let state = try await state(savedWithin: Deadline.parkingSave) else {
            throw Self.nothing("nothing is offered")
        }
        guard state.isWhole else { throw Self.nothing("its document is in no shared folder") }
        brokerLog.debug("Activity \(state.offer.id) is left with peers, revision \(state.offer.revision).")
        return PeerManagerParkReply(
            activity: state.offer.id.description, summary: OfferSummary.encode(state.offer),
            payload: state.payload)
    }

    /// What is offered, with the state that its application saves now, for a device that is away.
    /// - Throws: `OfferWithdrawn` if nothing is offered; `NotSupported` if a device could not continue it alone.
    func save() async throws -> PeerManagerSaveReply {
        guard let state = try await state(savedWithin: Deadline.willSave) else {
            throw HandoffFailure(
                .offerWithdrawn,
                "Nothing is offered here that could be sent: no activity is current, or it is not eligible or has"
                    + " expired. Turn to what you want to send, then try again.")
        }
        guard state.isWhole else {
            throw HandoffFailure(
                .notSupported,
                "The other device is away, and what is current here has a document that is in no folder which both"
                    + " share. Send it once the device is connected, or put the document into a shared folder."
            )
        }
        guard !state.hasStreams else {
            throw HandoffFailure(
                .notSupported,
                "The other device is away, and what is current here can be continued only while both are connected."
                    + " Send it then.")
        }
        return PeerManagerSaveReply(
            activity: state.offer.id.description, summary: OfferSummary.encode(state.offer),
            payload: state.payload)
    }

    /// What is offered, after its application has been asked to save it; nil if nothing is.
    private func state(
        savedWithin limit: Duration
    ) async throws -> (offer: Offer, payload: PackedProperties, isWhole: Bool, hasStreams: Bool)? {
        guard let id = activities.offeredNow, let object = activities.object(of: id) else { return nil }
        async let named = object.isSandboxed ? nil : sharedFolders.files(namedIn: object.state)
        await object.saved(within: limit)
        let files = await named
        guard activities.object(of: id) === object, let offer = activities.park(), offer.id == id else {
            return nil
        }
        let payload = object.payload(naming: files)
        return (
            offer, try PackedProperties(payload),
            object.documentURL.isEmpty || SharedURLs.areNamed(in: payload),
            object.supportsContinuationStreams
        )
    }

    private static func nothing(_ why: String) -> HandoffFailure {
        HandoffFailure(.offerWithdrawn, "Nothing is left with other devices: \(why).")
    }
}
