// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffStatus
internal import Platform

/// What the page shows on which people continue.
package struct ContinuePage: Equatable, Sendable {
    /// What stands where there is no offer.
    package enum Empty: Equatable, Sendable {
        /// Nothing is known yet.
        case waiting
        /// A daemon does not run, as the bar says.
        case stopped
        /// Handoff is switched off.
        case switchedOff
        /// There is no device to continue from.
        case noDevices
        /// There are devices, which offer nothing.
        case nothing
    }

    /// What can be continued: what was sent to this device, then the rest; the latest first.
    package var offers: [OfferCard] = []
    /// What cannot, and why.
    package var hidden: [HiddenRow] = []
    /// What this device could send to others; nil if it does nothing that could be continued elsewhere.
    package var current: CurrentCard?
    /// What was sent to other devices, as far as that is not done.
    package var sends: [SendRow] = []
    /// What stands where there is no offer; nil if there is one.
    package var empty: Empty?
    /// What has failed last, if its offer has gone since.
    package var lost: Attempts.Lost?
    /// The applications here that take part, which do so on other devices too, by name.
    package var participants: [Participant] = []

    /// An application that takes part.
    package struct Participant: Equatable, Sendable, Identifiable {
        /// The name of its desktop entry.
        package let id: String
        package let name: String
    }

    /// More would be no examples.
    private static let maximumParticipants = 24

    /// What `report` has of it; nil while nothing is known.
    init(
        _ report: StatusReport?, _ attempts: Attempts, _ begun: Sends, _ adapters: [Adapter], at now: Int64,
        _ name: ApplicationNames
    ) {
        (sends, lost) = (begun.rows(report?.peers ?? [], at: now), attempts.lost)
        guard let report else {
            empty = .waiting
            return
        }
        if let broker = report.broker.content {
            let sorted = broker.offers.filter(\.isInvited) + broker.offers.filter { !$0.isInvited }
            let listable = Set(report.peers.filter(\.canList).map(\.id))
            offers = sorted.map {
                OfferCard($0, attempts[$0.path], canList: listable.contains($0.deviceID), at: now, name)
            }
            hidden = broker.hidden.map { HiddenRow($0, at: now, name) }
            current = CurrentCard(broker.sendable, report.peers, broker.phones, name)
        }
        if offers.isEmpty { empty = Self.empty(report) }
        if empty == .nothing { participants = Self.participants(report, adapters, name) }
    }

    private static func participants(
        _ report: StatusReport, _ adapters: [Adapter], _ name: ApplicationNames
    ) -> [Participant] {
        guard let broker = report.broker.content else { return [] }
        let disabled = Set(broker.preferences.texts("DisabledAdapters"))
        let excluded = Set(broker.preferences.texts("ExcludedApplications"))
        let adapted = adapters.filter { !disabled.contains($0.id) }.flatMap(\.applications)
        let registered = broker.applications.filter { $0.activities > 0 }.map(\.applicationID)
        let all = Set(adapted + registered).subtracting(excluded)
            .map { Participant(id: $0, name: name.name(of: $0)) }
        return Array(
            all.sorted { ($0.name.lowercased(), $0.id) < ($1.name.lowercased(), $1.id) }.prefix(
                maximumParticipants))
    }

    private static func empty(_ report: StatusReport) -> Empty {
        guard let broker = report.broker.content, report.bridge.content != nil else { return .stopped }
        if !broker.isEnabled { return .switchedOff }
        return report.peers.isEmpty ? .noDevices : .nothing
    }
}

/// An offer of another device.
package struct OfferCard: Equatable, Sendable, Identifiable {
    /// How far continuing it is.
    package enum Standing: Equatable, Sendable {
        case available
        /// It is under way; how much is here, from 0 to 1, nil if that is not known.
        case continuing(Double?)
        /// It has failed, for this reason.
        case failed(String)
    }

    /// An application that continues it.
    package struct Handler: Equatable, Sendable {
        package let id: String
        package let name: String
    }

    /// Where the broker has it.
    package let path: ObjectPath
    /// The id of the device that it is on.
    package let deviceID: String
    /// What the command is called that shows what else is open there; empty if that is not known.
    package let everything: String
    /// What it is.
    package let title: String
    /// The device that it is on, and since when that sleeps, if it does.
    package let device: String
    /// The application in which it is continued, and since when it is there.
    package let detail: String
    /// Whether the user of that device has sent it to this one.
    package let isInvited: Bool
    /// The applications whose picture stands for it, the best first.
    package let pictures: [String]
    /// The applications that can continue it, the best first.
    package let handlers: [Handler]
    /// How far continuing it is.
    package let standing: Standing

    /// What distinguishes it from others.
    package var id: String { path.text }

    init(
        _ offer: RemoteOffer, _ attempt: Attempts.Standing?, canList: Bool, at now: Int64,
        _ name: ApplicationNames
    ) {
        path = offer.path
        deviceID = offer.deviceID
        everything = canList ? tr("Everything on {device}…", ["device": offer.device.shown]) : ""
        title = offer.label.shown
        device = offer.whereabouts
        isInvited = offer.isInvited
        let application = offer.handlers.first ?? offer.applicationID
        detail = [name.name(of: application, continuing: offer), Ages.ago(offer.since, at: now)].filter {
            !$0.isEmpty
        }
        .joined(separator: " · ")
        pictures = offer.applications
        handlers = offer.handlers.map { Handler(id: $0, name: name.name(of: $0, continuing: offer)) }
        standing =
            if offer.state == "continuing" {
                .continuing(offer.progress)
            } else {
                switch attempt {
                case .running?: .continuing(nil)
                case .failed(_, let reason)?: .failed(reason.shown)
                case nil: .available
                }
            }
    }
}

/// An offer that nothing here continues.
package struct HiddenRow: Equatable, Sendable, Identifiable {
    package let id: String
    /// The application that it is in.
    package let applicationID: String
    /// What it is.
    package let title: String
    /// The device that it is on, in which application, and since when.
    package let detail: String
    /// Why it cannot be continued, and what to do about it.
    package let reason: String
    /// Where programs for software show the application that it is in (`appstream:`, by the id of AppStream's component); empty
    /// if that would not help.
    package let software: String

    init(_ offer: HiddenOffer, at now: Int64, _ name: ApplicationNames) {
        id = "\(offer.deviceID) \(offer.id)"
        (applicationID, title) = (offer.applicationID, offer.label.shown)
        let sent = offer.isInvited ? tr("Sent to this device") : ""
        let application = ChosenText(title: name.name(of: offer.applicationID)).shown
        let facts = [offer.device.shown, application, sent, Ages.ago(offer.since, at: now)]
        detail = facts.filter { !$0.isEmpty }.joined(separator: " · ")
        let excluded = offer.excludedApplication
        let isID = offer.applicationID.allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0))
        }
        software = excluded.isEmpty && isID ? "appstream://\(offer.applicationID)" : ""
        let missing =
            ObstacleText.known(offer.reason)
            ?? tr("No application here continues it. Install one that does, or start it.")
        reason =
            excluded.isEmpty
            ? missing
            : tr(
                "You have excluded “{application}” from Handoff. Take it out of the excluded applications if it is to"
                    + " take part.",
                ["application": ChosenText(title: name.name(of: excluded)).shown])
    }
}

/// What the user of this device is doing, which can be sent to another one.
package struct CurrentCard: Equatable, Sendable {
    /// A device to send it to.
    package struct Target: Equatable, Sendable {
        package let id: String
        package let name: String
    }

    /// What it is.
    package let title: String
    /// The application.
    package let detail: String
    /// The applications whose picture stands for it.
    package let pictures: [String]
    /// The devices and telephones that it can be sent to, those that can be reached first.
    package let targets: [Target]

    init?(
        _ current: LocalActivity?, _ peers: [KnownDevice], _ phones: [KnownPhone], _ name: ApplicationNames
    ) {
        guard let current else { return nil }
        targets =
            peers.filter(\.isConnected).map { Target(id: $0.id, name: $0.label.shown) }
            + phones.map { Target(id: $0.target, name: $0.label.shown) }
            + peers.filter { !$0.isConnected }.map {
                Target(id: $0.id, name: tr("{device} (away)", ["device": $0.label.shown]))
            }
        if targets.isEmpty { return nil }
        title = ChosenText(title: current.title.isEmpty ? current.applicationID : current.title).shown
        detail = name.name(of: current.applicationID)
        pictures = [current.applicationID]
    }
}
