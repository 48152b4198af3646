// SPDX-License-Identifier: LGPL-2.1-or-later

/// An application here that can continue what a peer offers, and how.
package enum Handler: Hashable, Sendable {
    /// It is handed the activity.
    case application(ApplicationID)
    /// It is the user's browser, which is given the address of the activity's web page.
    case browser(ApplicationID)
    /// It is what the user opens documents of this type with, and is given the activity's document.
    case documentApplication(ApplicationID)

    /// Which application it is.
    package var id: ApplicationID {
        switch self {
        case .application(let id), .browser(let id), .documentApplication(let id): id
        }
    }
}

/// What decides beside the applications themselves which of them is best for an offer.
package struct HandlerChoices: Hashable, Sendable {
    /// The application that the user has chosen for activities of this type, once and for all.
    package var chosen: ApplicationID?
    /// The user's browser.
    package var browser: ApplicationID?
    /// What the user opens documents of the offer's document type with.
    package var documentApplication: ApplicationID?
    /// The applications to which the site of the offer's web page has given its pages.
    package var claimants: [ApplicationID] = []

    /// Nothing was chosen, and there is nothing to open pages or documents with.
    package init() {}
}
