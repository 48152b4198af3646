// SPDX-License-Identifier: LGPL-2.1-or-later

extension RemoteOffers {
    /// An offer that the user sees.
    package struct Entry: Hashable, Sendable {
        /// Who offers it.
        package let device: DeviceID
        /// What is offered.
        package internal(set) var offer: Offer
        /// The applications here that can continue it, best first.
        package internal(set) var handlers: [Handler]
        /// What would continue it if the user had not excluded it.
        var keptOut = KeptOut()
        /// Whether it is being continued here.
        package internal(set) var isContinuing: Bool
        /// When the user of the device has sent it to this one, in microseconds since the Unix epoch; 0 if that is not shown.
        package internal(set) var invitedAt: Int64
        /// Whether the user of the device has sent it to this one.
        package var isInvited: Bool { invitedAt != 0 }
        /// When the device left it here before it slept, in microseconds since the Unix epoch; 0 if it has not.
        package internal(set) var parkedAt: Int64 = 0
        /// Whether it can be continued without the device.
        package var isParked: Bool { parkedAt != 0 }
        /// Whether it is not offered, and was listed for the user.
        package internal(set) var isListed = false
        /// Whether its device has kept it for this device alone.
        var isKept = false
        /// Why nothing here continues it, and what to do, for people; empty if something does.
        package var obstacle: String {
            offer.isContinued(by: handlers, keptOut)
                ? "" : HandoffFailure.noApplication(for: offer, keptOut: keptOut).message
        }
    }

    /// What a device has listed.
    package struct Listed {
        let offer: Offer
        let handlers: [Handler]
        let keptOut: KeptOut
        let parkedAt: Int64

        /// An activity, what here can continue it, best first, what could if the user had not excluded it, and when the device
        /// left it here before it slept, in microseconds since the Unix epoch; 0 if it has not.
        package init(offer: Offer, handlers: [Handler], keptOut: KeptOut = KeptOut(), parkedAt: Int64 = 0) {
            (self.offer, self.handlers, self.keptOut, self.parkedAt) = (offer, handlers, keptOut, parkedAt)
        }
    }

    /// An offer that the user does not see because nothing here continues it.
    package struct Hidden: Hashable, Sendable {
        /// Who offers it.
        package let device: DeviceID
        /// What is offered.
        package let offer: Offer
        /// Whether the user of the device has sent it to this one.
        package let isInvited: Bool
        /// What would continue it if the user had not excluded it.
        let keptOut: KeptOut
        /// The application that would continue it best if the user had not excluded it; nil if there is none.
        package var excluded: ApplicationID? { keptOut.applications.first }
        /// Why it is hidden, and what to do, for people.
        package var reason: String { HandoffFailure.noApplication(for: offer, keptOut: keptOut).message }
    }

    /// What an event asks to be done, in this order.
    package enum Action: Hashable, Sendable {
        /// Show this offer.
        case added(Entry)
        /// Show this offer, which is shown already, as it is now.
        case changed(Entry)
        /// Stop showing this offer.
        case removed(DeviceID, ActivityID)
        /// The set of hidden offers has changed, or what they say has.
        case hiddenChanged
    }

    /// What continues an offer.
    package enum Target: Hashable, Sendable {
        /// This application.
        case application(ApplicationID)
        /// The user's browser, which is given the web page's address; nil if none is known.
        case browser(ApplicationID?)
        /// What the user opens such documents with, which is given the document.
        case documentApplication(ApplicationID)

        /// What `handler` makes the target.
        init(_ handler: Handler) {
            self =
                switch handler {
                case .application(let id): .application(id)
                case .browser(let id): .browser(id)
                case .documentApplication(let id): .documentApplication(id)
                }
        }
    }
}
