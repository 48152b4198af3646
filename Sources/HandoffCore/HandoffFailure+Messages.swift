// SPDX-License-Identifier: LGPL-2.1-or-later

extension HandoffFailure {
    static func malformedID(_ text: String, _ what: String, digits: Int) -> HandoffFailure {
        HandoffFailure(
            .invalidArguments,
            "\"\(PeerText.message(text))\" is not the id of a\(what.hasPrefix("a") ? "n" : "") \(what). Give \(digits)"
                + " lower-case hexadecimal digits.")
    }

    static func unknownActivity(_ id: ActivityID) -> HandoffFailure {
        HandoffFailure(
            .unknownObject,
            "There is no activity \(id): it was invalidated or never existed. Create a new one.")
    }

    /// There is no such continuation.
    package static func unknownContinuation(_ id: ContinuationID) -> HandoffFailure {
        HandoffFailure(
            .unknownObject,
            "There is no continuation \(id): it has ended or never existed. Continue the activity again.")
    }

    /// The activity of this continuation has no streams.
    package static func noStreams(_ id: ContinuationID) -> HandoffFailure {
        HandoffFailure(
            .streamsNotSupported,
            "The activity of continuation \(id) has no streams. Its application has to set"
                + " SupportsContinuationStreams before it is continued.")
    }

    /// The activity of this continuation has no document.
    static func noDocument(_ id: ContinuationID) -> HandoffFailure {
        HandoffFailure(
            .notSupported,
            "The activity of continuation \(id) had no document when it was fetched. Fetch it again if it has one by"
                + " now.")
    }

    static var anotherDocument: HandoffFailure {
        HandoffFailure(
            .limitsExceeded,
            "Another document is on its way to this device already. Wait until it has arrived.")
    }

    /// What `device` offered is gone, because there is no link with it.
    package static func originAway(_ device: String) -> HandoffFailure {
        HandoffFailure(
            .connectionUnavailable,
            "There is no connection to \(device) any more, and so nothing that it offers. Is it on, in the same network, and"
                + " Handoff switched on there?")
    }

    /// Handoff ends in this session, before what was being continued was there.
    package static var ending: HandoffFailure {
        HandoffFailure(.connectionUnavailable, "Handoff has ended in this session. Continue it again.")
    }

    /// Nothing is offered that could be sent to a device.
    package static var nothingToSend: HandoffFailure {
        HandoffFailure(
            .offerWithdrawn,
            "Nothing is offered here that could be sent: no activity is current, or it is not eligible or has"
                + " expired. Turn to what you want to send, then try again.")
    }

    package static func notPaired(_ device: DeviceID) -> HandoffFailure {
        HandoffFailure(.notPaired, "\(device) is not paired with this device. Pair them first.")
    }

    package static var cancelledBefore: HandoffFailure {
        HandoffFailure(.cancelled, "It was cancelled before it began.")
    }

    package static var unknownOffer: HandoffFailure {
        HandoffFailure(
            .unknownObject, "The other device does not offer this here. Look again at what is offered.")
    }

    /// The user has switched Handoff off here.
    package static var disabled: HandoffFailure {
        HandoffFailure(.disabled, "Handoff is switched off. Switch it on, then try again.")
    }

    /// The user of this device has switched Handoff off, as a peer is told.
    package static var disabledThere: HandoffFailure {
        HandoffFailure(.disabled, "Handoff is switched off on the other device. Switch it on there.")
    }

    /// What was chosen is offered no longer.
    package static var offerWithdrawn: HandoffFailure {
        HandoffFailure(
            .offerWithdrawn,
            "This is no longer offered. Look again at what is offered, and choose from that.")
    }

    static func offerChanged(_ offer: Offer) -> HandoffFailure {
        HandoffFailure(
            .offerWithdrawn,
            "What the other device sent is not the activity \"\(offer.title)\" (\(offer.type)) that was"
                + " chosen. Look again at what is offered, and choose from that.")
    }

    static func notRegistered(_ connection: String, ending: String?) -> HandoffFailure {
        HandoffFailure(
            .notRegistered,
            "Connection \(connection) "
                + (ending.map { "is registered no longer. \($0)" }
                    ?? "has not registered an application. Call RegisterApplication first."))
    }

    /// The user keeps `application` out of Handoff, and so nothing is continued in it.
    package static func excluded(_ application: ApplicationID) -> HandoffFailure {
        HandoffFailure(
            .noApplication,
            "\(application) is excluded from Handoff on this device, so that nothing is continued in it. Take it out of the"
                + " excluded applications in the settings of Handoff (ExcludedApplications in handoff.conf) if it is to"
                + " take part.")
    }

    /// The user has switched off the adapter that `application` belongs to, and so nothing is continued in it.
    package static func switchedOff(_ application: ApplicationID) -> HandoffFailure {
        HandoffFailure(
            .noApplication,
            "\(application) belongs to an adapter that is switched off on this device, so that nothing is continued in it."
                + " Switch the adapter on in the settings of Handoff (DisabledAdapters) if it is to take part."
        )
    }

    static func noApplication(for offer: Offer, keptOut: KeptOut) -> HandoffFailure {
        if let excluded = keptOut.applications.first { return .excluded(excluded) }
        if !keptOut.needed.isEmpty {
            let isMedia = offer.type.description == "org.example.Handoff.PlayingMedia"
            let list = keptOut.needed.prefix(16).map { PeerText.message($0) }.joined(separator: ", ")
            let text = "Nothing that opens it is installed. Install one of these: \(list)."
            return HandoffFailure(.noApplication, isMedia ? noPlayer : text)
        }
        var text = "No application here continues activities of type \(offer.type) of team \(offer.team)."
        if let other = keptOut.ofOtherTeam {
            text +=
                " \(other.application) declares the type, but is of team \(other.team): it has to name the team of the"
                + " application that the activity comes from."
        } else {
            text += " Install or start one that declares the type"
            text += offer.documentType.map { ", or one that opens documents of type \($0)." } ?? "."
        }
        return HandoffFailure(.noApplication, text)
    }

    /// What is said of a film or a song where nothing plays it. Programs know the sentence, and say it in their user's language.
    package static let noPlayer =
        "No media player that Handoff knows is installed. Install mpv, VLC or Celluloid."

    /// What is said where nobody answers at an address, neither with yes nor with no. As part of a message it also tells programs
    /// that it was so.
    package static let mayBeFirewall =
        "A firewall there may be in the way: it has to let in TCP ports 45700 to 45799 and UDP port 5353."

    /// The program of an application that is called `application` has crashed.
    package static func crashed(_ application: String) -> HandoffFailure {
        HandoffFailure(.applicationFailed, application + crashing)
    }

    /// Whether this says that a program has crashed, and so all that there is to be said.
    package var isCrash: Bool { code == .applicationFailed && message.hasSuffix(Self.crashing) }

    private static let crashing = " has crashed. Start it and try again."

    static var tooManyStreams: HandoffFailure {
        .tooMany(
            "open streams of one connection", limit: Quota.streams,
            advice: "Close those that are no longer needed.")
    }

    static var tooManyStreamsOfProcess: HandoffFailure {
        .tooMany(
            "open streams of one process", limit: Quota.streams * Quota.processes,
            advice: "Close those that are no longer needed.")
    }

    /// More of something than there may be; `advice` says what to do.
    package static func tooMany(_ things: String, limit: Int, advice: String) -> HandoffFailure {
        HandoffFailure(.limitsExceeded, "More than \(limit) \(things) are not allowed. \(advice)")
    }
}
