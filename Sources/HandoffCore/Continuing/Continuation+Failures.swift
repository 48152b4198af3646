// SPDX-License-Identifier: LGPL-2.1-or-later

extension HandoffFailure {
    static func notRegisteredInTime(_ target: Continuation.Target) -> HandoffFailure {
        HandoffFailure(
            .applicationTimedOut,
            "\(target.name) was started but did not register within \(Deadline.registration.text)."
                + " Start it by hand, then try again.")
    }

    static func noAnswer(_ target: Continuation.Target, _ offer: Offer) -> HandoffFailure {
        HandoffFailure(
            .applicationTimedOut,
            "No answer came within \(Deadline.continueActivity.text) to the request to continue"
                + " \"\(offer.title)\" in \(target.name). See whether the application hangs, then try again.")
    }

    static func notItsPage(_ offer: Offer) -> HandoffFailure {
        HandoffFailure(
            .notSupported,
            "The address of \"\(offer.title)\" names a user or a port, so it goes to the web browser. There is nothing"
                + " to do.")
    }

    /// What was chosen has no document any more.
    package static func documentMissing(_ offer: Offer) -> HandoffFailure {
        HandoffFailure(
            .offerWithdrawn,
            "\"\(offer.title)\" has no document any more. Choose from what is offered now.")
    }

    /// The continuation was over before the activity could be handed over.
    package static func tooLate(_ offer: Offer) -> HandoffFailure {
        HandoffFailure(
            .applicationFailed,
            "\"\(offer.title)\" was not handed over, because the continuation ended before its document could be opened"
                + " in the sandbox. Try again.")
    }

    static func documentWithheld(_ offer: Offer, from target: Continuation.Target) -> HandoffFailure {
        HandoffFailure(
            .notSupported,
            "\(target.name) runs in a sandbox in which it cannot open the document of \"\(offer.title)\". The document is"
                + " opened with another application. Install xdg-desktop-portal to have it opened with this one."
        )
    }

    static func declined(_ offer: Offer, by target: Continuation.Target) -> HandoffFailure {
        HandoffFailure(
            .applicationFailed,
            "\(target.name) did not continue \"\(offer.title)\" (\(offer.type))."
                + " Try another application, or a newer version of this one.")
    }

    static func missing(
        _ refusal: Continuation.Refusal, _ offer: Offer, in target: Continuation.Target
    ) -> HandoffFailure {
        HandoffFailure(
            .applicationFailed,
            "\(target.name) did not continue \"\(offer.title)\": it has no ContinueActivity at"
                + " \(PeerText.message(refusal.path)) (\(refusal.shownName)). It has to serve"
                + " org.example.Handoff.Application at the object that it registers. \(PeerText.message(refusal.message))"
        )
    }

    static func refused(
        _ refusal: Continuation.Refusal, _ offer: Offer, by target: Continuation.Target
    ) -> HandoffFailure {
        HandoffFailure(
            .applicationFailed,
            "\(target.name) did not continue \"\(offer.title)\": "
                + (refusal.message.isEmpty ? "It does not say why." : PeerText.message(refusal.message)))
    }

    static func busy(
        _ offer: Offer, with target: Continuation.Target, not application: ApplicationID
    ) -> HandoffFailure {
        HandoffFailure(
            .invalidArguments,
            "\(application) cannot continue \"\(offer.title)\" now: \(target.name) is about to."
                + " Wait until that is over, or name no application.")
    }

    static func vanished(_ target: Continuation.Target, _ offer: Offer) -> HandoffFailure {
        HandoffFailure(
            .applicationFailed,
            "\(target.name) went away before it had continued \"\(offer.title)\". Try again.")
    }

    static func fetchTimedOut(_ offer: Offer) -> HandoffFailure {
        HandoffFailure(
            .connectionUnavailable,
            "The other device did not send \"\(offer.title)\" within \(Deadline.fetch.text)."
                + " See whether it is awake and on the network, then try again.")
    }

    static func documentTimedOut(_ offer: Offer) -> HandoffFailure {
        HandoffFailure(
            .connectionUnavailable,
            "Nothing more came of the document of \"\(offer.title)\" for \(Deadline.documentSilence.text)."
                + " See whether the other device is awake and on the network, then try again.")
    }

    static func documentTooSlow(_ offer: Offer) -> HandoffFailure {
        HandoffFailure(
            .connectionUnavailable,
            "The document of \"\(offer.title)\" came too slowly: less than \(ByteCount.text(DocumentPace.minimum)) within"
                + " \(DocumentPace.period.text). See whether the network is better elsewhere, then try again."
        )
    }

    static func cancelled(_ offer: Offer) -> HandoffFailure {
        HandoffFailure(
            .cancelled,
            "Continuing \"\(offer.title)\" was cancelled on this device. Continue it again if you want it after all."
        )
    }

    static func tooLateToCancel(_ offer: Offer, _ target: Continuation.Target) -> HandoffFailure {
        HandoffFailure(
            .notSupported,
            "It is too late to cancel: \(target.name) has been handed \"\(offer.title)\" already. Close it there."
        )
    }

    /// The offer is not being continued.
    package static func nothingToCancel(_ offer: Offer) -> HandoffFailure {
        HandoffFailure(
            .unknownObject,
            "\"\(offer.title)\" is not being continued, so there is nothing to cancel. Look at its State before."
        )
    }
}

extension Continuation.Refusal {
    /// The name, made fit to be shown.
    fileprivate var shownName: String { PeerText.message(name) }
}

extension Continuation.Target {
    /// What a message calls it.
    fileprivate var name: String {
        application?.description ?? "The web browser"
    }
}

extension Duration {
    /// Whole seconds, in words.
    fileprivate var text: String { "\(components.seconds) s" }
}
