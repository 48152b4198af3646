// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
package import HandoffStatus

/// What applications are called.
package struct ApplicationNames {
    private let find: (String) -> String?

    /// Names that `find` finds by the ids of applications, in the user's language; nil for one that is not installed.
    package init(_ find: @escaping (String) -> String?) { self.find = find }

    /// What to call the application `id`; fit to be shown. One that is not installed is called by its id.
    package func name(of id: String) -> String { ChosenText(title: find(id) ?? id).shown }

    /// What to call that in which `handler`, one of those of `offer`, continues it: what stands for other applications is called
    /// like the one that it takes, if that is known.
    package func name(of handler: String, continuing offer: RemoteOffer) -> String {
        let isInOrigin = StandIn(id: handler)?.prefersOrigin == true
        guard isInOrigin, find(offer.applicationID) != nil else { return name(of: handler) }
        return name(of: offer.applicationID)
    }
}
