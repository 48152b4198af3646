// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffCore
internal import HandoffInterfaces
package import HandoffStatus
package import MainLoop
internal import Platform

/// An offer as the search and the panel show it.
package struct ListedOffer: Hashable, Sendable {
    /// Its object.
    package let path: ObjectPath
    /// The id of its device.
    package let deviceID: String
    /// The whole title, which is not fit to be shown.
    package let title: String
    /// The title, or what else to call it, in quotation marks.
    package let label: String
    /// The name of its device.
    package let device: String
    /// The same, and since when it sleeps, if it does.
    package let whereabouts: String
    /// The name of the application that would continue it.
    package let application: String
    /// The icon of that application, or else ours.
    package let icon: String

    /// The icon of what has none.
    package static let ownIcon = Vendor.applicationID

    /// `offer`, in an application that looks as `faces` knows.
    @MainLoop
    package init(_ offer: RemoteOffer, _ faces: any ApplicationFaces) {
        path = offer.path
        deviceID = offer.deviceID
        title = offer.title
        label = offer.label.quoted
        (device, whereabouts) = (offer.device.shown, offer.whereabouts)
        // An id that a peer has sent is only looked up: what is shown then comes from this machine.
        let ids = offer.applications
        let face = ids.firstResult { faces.face(of: $0) }
        application = face?.name ?? ids.first?.split(separator: ".").last.map(String.init) ?? ""
        icon = face.flatMap { $0.icon.isEmpty ? nil : $0.icon } ?? Self.ownIcon
    }

    /// The offers in `report`, the latest first.
    @MainLoop
    package static func all(in report: StatusReport, _ faces: any ApplicationFaces) -> [ListedOffer] {
        report.broker.content?.offers.map { ListedOffer($0, faces) } ?? []
    }

    /// By what the desktop names it to us again: it says nothing to anybody, and is the same for as long as the offer is
    /// there, also for an agent that has been started anew.
    package var key: String { path.suffix(below: HandoffNames.remote).map { String($0) } ?? "" }
}
