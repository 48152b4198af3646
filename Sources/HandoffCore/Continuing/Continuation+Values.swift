// SPDX-License-Identifier: LGPL-2.1-or-later

extension Continuation {
    /// What continues the activity.
    package enum Target: Hashable, Sendable {
        /// This application, which is registered already or has to be started.
        case application(ApplicationID, isRunning: Bool)
        /// The user's browser, which is given the web page's address; nil if none was known.
        case browser(ApplicationID?)
        /// What the user opens such documents with, which is given the document.
        case documentApplication(ApplicationID)

        /// Which application it is; nil if it is an unknown browser.
        package var application: ApplicationID? {
            switch self {
            case .application(let id, isRunning: _), .documentApplication(let id): id
            case .browser(let id): id
            }
        }

        /// Whether the application is handed the activity itself, not only its page or its document.
        package var isHandedActivity: Bool {
            if case .application = self { true } else { false }
        }

        /// Whether the document has to be here before anything is opened.
        var wantsDocument: Bool {
            if case .browser = self { false } else { true }
        }
    }

    /// Where the document of a fetched activity is.
    package enum Document: Hashable, Sendable {
        /// There is none.
        case none
        /// It is a file of this machine.
        case present
        /// It is in a shared folder and has not been synchronised yet.
        case awaited
        /// It has to be brought over from the origin.
        case remote
    }

    /// What `Fetch` brought, as far as the continuation is concerned; the caller keeps the rest.
    package struct Fetched: Hashable, Sendable {
        /// The summary of what was fetched.
        package var offer: Offer
        /// Where its document is.
        package var document: Document
        /// Whether its web page, if it has one, may go to an application because its site says so: the address has
        /// neither user info nor a port.
        package var pageMayBeClaimed: Bool

        /// What `Fetch` brought.
        package init(offer: Offer, document: Document, pageMayBeClaimed: Bool = true) {
            self.offer = offer
            self.document = document
            self.pageMayBeClaimed = pageMayBeClaimed
        }
    }

    /// What the application answered to `ContinueActivity`.
    package enum Answer: Hashable, Sendable {
        /// It has continued the activity.
        case handled
        /// It has not continued the activity.
        case declined
        /// It does not implement the method, as this error says.
        case missing(Refusal)
        /// It answered with an error.
        case failed(Refusal)
    }

    /// An error that an application answered with.
    package struct Refusal: Hashable, Sendable {
        /// The D-Bus name of the error.
        package let name: String
        /// What it says, for people.
        package let message: String
        /// The object that was called.
        package let path: String

        /// An error.
        package init(name: String, message: String, path: String) {
            self.name = name
            self.message = message
            self.path = path
        }
    }

    /// What is to be done with another connection of the application, which is handed the activity instead.
    package enum Handover: Hashable, Sendable {
        /// Ask it whether it will continue.
        case ask
        /// Hand it the activity: it has been asked, or cannot be.
        case deliver
    }

    /// How a continuation ended.
    package enum Outcome: Hashable, Sendable {
        /// The activity was continued.
        case continued
        /// The activity was not continued.
        case failed(HandoffFailure)
    }

    /// What an event asks to be done, in this order.
    package enum Action: Hashable, Sendable {
        /// Start the application. Answer: `applicationReady` once it has registered, or `startFailed`.
        case startApplication(ApplicationID)
        /// Call `WillContinueActivity`. Answer: `willContinueAnswered`.
        case askWillContinue
        /// Call `Fetch`. Answer: `fetched` or `fetchFailed`.
        case fetch
        /// Watch for the document in its shared folder. Answer: `documentArrived` or `documentFailed`.
        case awaitDocument
        /// Bring the document over. Answer: `documentProgressed`, and `documentArrived` or `documentFailed`.
        case bringDocument
        /// Call `ContinueActivity` with what the last successful `Fetch` brought. Answer: `deliverAnswered`.
        case deliver
        /// Open the web page in the default browser. Answer: `opened` or `openFailed`.
        case openWebPage
        /// Open the document with this application, which did not take the activity, if it opens such documents, else with
        /// the default application for its type. Answer: `opened` or `openFailed`.
        case openDocument(by: ApplicationID?)
        /// Call `DidFailToContinueActivity`.
        case tellApplicationFailed(HandoffFailure)
        /// Tell each of these callers the outcome. Nobody else will be told another.
        case finished(Outcome, callers: [String])
        /// Call `Continued` at the origin. Answer: `continuedAcknowledged` on any reply of the peer, else
        /// `continuedFailed`. This comes again when it is worth another attempt.
        case confirmContinued
        /// Call `Release` at the origin, and forget this continuation: nothing more comes out of it.
        case release
    }

    // MARK: What is asked of it

    /// Whether the outcome is still open, so that others may join.
    package var isRunning: Bool {
        switch state {
        case .new, .preparing, .delivering, .opening: true
        case .continued, .failed: false
        }
    }

    /// Whether its document, if it has one, has to be here before anything else happens.
    package var wantsDocument: Bool { target.wantsDocument && !getsPageAlone }
}
