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
        let state = try await state(of: activities.offeredNow, savedWithin: Deadline.parkingSave) { saved in
            if !saved.isWhole { throw Self.nothing("its document is in no shared folder") }
            return activities.park()
        }
        guard let state else { throw Self.nothing("nothing is offered") }
        brokerLog.debug("Activity \(state.offer.id) is left with peers, revision \(state.offer.revision).")
        return PeerManagerParkReply(
            activity: state.offer.id.description, summary: OfferSummary.encode(state.offer),
            payload: try PackedProperties(state.payload))
    }

    /// What is offered, or was left last, with the state that its application saves now, for a device that is away.
    /// - Throws: `OfferWithdrawn` if nothing is offered; `NotSupported` if a device could not continue it alone.
    func save() async throws -> PeerManagerSaveReply {
        let id = activities.offeredNow ?? activities.left?.id
        let state = try await state(of: id, savedWithin: Deadline.willSave) { saved in
            if !saved.isWhole {
                throw HandoffFailure(
                    .notSupported,
                    "This is sent to be continued without this device, and its document is in no folder that both share."
                        + " Send it while the other device is connected and the document is in front here, or put the"
                        + " document into such a folder.")
            }
            if saved.object.supportsContinuationStreams {
                throw HandoffFailure(
                    .notSupported,
                    "This can be continued only while both devices are connected. Send it then, while it is in front here."
                )
            }
            return activities.park() ?? activities.left?.withoutStreams
        }
        guard let state else {
            throw HandoffFailure.nothingToSend
        }
        return PeerManagerSaveReply(
            activity: state.offer.id.description, summary: OfferSummary.encode(state.offer),
            payload: try PackedProperties(state.payload))
    }

    /// What is open beside what is offered, the latest used first: what needs no more of this device than its state, and whose
    /// application has said all that it has to say within ``Deadline/parkingSave``, or had nothing to save.
    func parkAside() async -> [LeftActivity] {
        guard activities.applications.preferences.parks else { return [] }
        let all = activities.openAside.map { id in
            MainLoop.start { [self] in
                await saved(id, within: Deadline.parkingSave)
            }
        }
        var (left, size) = ([LeftActivity](), 0)
        for one in all {
            guard left.count < Quota.openLeft, let saved = await one.value, saved.isWhole, saved.isUpToDate
            else { continue }
            let more = MarshalledSize.ofBody(saved.payload)
            guard more <= Quota.payloadOfOpenLeft, size + more <= Quota.payloadOfAllOpenLeft,
                let offer = activities.parkAside(saved.object.id)
            else { continue }
            size += more
            left.append(Structure(offer.id.description, OfferSummary.encode(offer), saved.payload))
        }
        return left
    }

    /// An activity, after its application has been asked to save it.
    private struct Saved {
        let object: ActivityObject
        /// What `Fetch` would return.
        let payload: [String: Value]
        /// Whether a device that has this has all of it.
        let isWhole: Bool
        /// Whether its application had nothing to save, or has.
        let isUpToDate: Bool
    }

    /// An activity, after its application has been asked to save it; nil if there is none, or it is offered no longer.
    /// - Parameter offer: what peers are to have of it, who may say from then on that they have continued it. Throws if it is not
    ///   to go anywhere.
    private func state(
        of id: ActivityID?, savedWithin limit: Duration, _ offer: (Saved) throws -> Offer?
    ) async throws -> (offer: Offer, payload: [String: Value])? {
        guard let id, let saved = await saved(id, within: limit), let offer = try offer(saved), offer.id == id
        else { return nil }
        return (offer, saved.payload)
    }

    private func saved(_ id: ActivityID, within limit: Duration) async -> Saved? {
        guard let object = activities.object(of: id) else { return nil }
        let hadNothing = !object.needsSave
        async let named = object.isSandboxed ? nil : sharedFolders.files(namedIn: object.state)
        let isSaved = await object.saved(within: limit)
        let files = await named
        guard activities.object(of: id) === object else { return nil }
        let payload = object.payload(naming: files)
        return Saved(
            object: object, payload: payload,
            isWhole: object.documentURL.isEmpty || SharedURLs.areNamed(in: payload),
            isUpToDate: hadNothing || isSaved)
    }

    private static func nothing(_ why: String) -> HandoffFailure {
        HandoffFailure(.offerWithdrawn, "Nothing is left with other devices: \(why).")
    }
}
