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
        let state = try await state(of: activities.offeredNow, savedWithin: Deadline.parkingSave) {
            object, isWhole in
            if !isWhole { throw Self.nothing("its document is in no shared folder") }
        }
        guard let state else { throw Self.nothing("nothing is offered") }
        brokerLog.debug("Activity \(state.offer.id) is left with peers, revision \(state.offer.revision).")
        return PeerManagerParkReply(
            activity: state.offer.id.description, summary: OfferSummary.encode(state.offer),
            payload: state.payload)
    }

    /// What is offered, or was left last, with the state that its application saves now, for a device that is away.
    /// - Throws: `OfferWithdrawn` if nothing is offered; `NotSupported` if a device could not continue it alone.
    func save() async throws -> PeerManagerSaveReply {
        let id = activities.offeredNow ?? activities.left?.id
        let state = try await state(of: id, savedWithin: Deadline.willSave) { object, isWhole in
            if !isWhole {
                throw HandoffFailure(
                    .notSupported,
                    "This is sent to be continued without this device, and its document is in no folder that both share."
                        + " Send it while the other device is connected and the document is in front here, or put the"
                        + " document into such a folder.")
            }
            if object.supportsContinuationStreams {
                throw HandoffFailure(
                    .notSupported,
                    "This can be continued only while both devices are connected. Send it then, while it is in front here."
                )
            }
        }
        guard let state else {
            throw HandoffFailure.nothingToSend
        }
        return PeerManagerSaveReply(
            activity: state.offer.id.description, summary: OfferSummary.encode(state.offer),
            payload: state.payload)
    }

    /// An activity, after its application has been asked to save it; nil if there is none, or it is offered no longer.
    /// - Parameter check: throws if it is not to go anywhere, given whether a device has all of it that has this.
    private func state(
        of id: ActivityID?, savedWithin limit: Duration,
        _ check: (ActivityObject, _ isWhole: Bool) throws -> Void
    ) async throws -> (offer: Offer, payload: PackedProperties)? {
        guard let id, let object = activities.object(of: id) else { return nil }
        async let named = object.isSandboxed ? nil : sharedFolders.files(namedIn: object.state)
        await object.saved(within: limit)
        let files = await named
        guard activities.object(of: id) === object else { return nil }
        let payload = object.payload(naming: files)
        try check(object, object.documentURL.isEmpty || SharedURLs.areNamed(in: payload))
        // From here on peers may say that they have continued it.
        guard let offer = activities.park() ?? activities.left?.withoutStreams, offer.id == id else {
            return nil
        }
        return (offer, try PackedProperties(payload))
    }

    private static func nothing(_ why: String) -> HandoffFailure {
        HandoffFailure(.offerWithdrawn, "Nothing is left with other devices: \(why).")
    }
}
