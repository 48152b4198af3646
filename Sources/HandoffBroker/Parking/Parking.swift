// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What of this session is left with peers before the machine sleeps.
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
        guard let id = activities.offeredNow, let object = activities.object(of: id) else {
            throw Self.nothing("nothing is offered")
        }
        async let named = object.isSandboxed ? nil : sharedFolders.files(namedIn: object.state)
        await object.saved(within: Deadline.parkingSave)
        let files = await named
        guard activities.object(of: id) === object, let offer = activities.park(), offer.id == id else {
            throw Self.nothing("it is offered no more")
        }
        let payload = object.payload(naming: files)
        guard object.documentURL.isEmpty || SharedURLs.areNamed(in: payload) else {
            throw Self.nothing("its document is in no shared folder")
        }
        brokerLog.debug("Activity \(id) is left with peers, revision \(offer.revision).")
        return PeerManagerParkReply(
            activity: id.description, summary: OfferSummary.encode(offer),
            payload: try PackedProperties(payload))
    }

    private static func nothing(_ why: String) -> HandoffFailure {
        HandoffFailure(.offerWithdrawn, "Nothing is left with other devices: \(why).")
    }
}
