// SPDX-License-Identifier: LGPL-2.1-or-later

/// What peers offer, and which of these offers the user gets to see.
///
/// A device has one offer at a time. It is shown while Handoff is on, the user has not dismissed it, and
/// something here can continue it: an application, or the browser if it has a web page. An offer that is
/// being continued remains visible until that is over, even if it has ended in the meantime.
package struct RemoteOffers: Sendable {
    /// What a device offers, seen or not.
    private struct Held {
        var offer: Offer
        var handlers: [Handler]
        var keptOut: KeptOut
        var parkedAt: Int64 = 0
        var isDismissed = false

        /// Whether something here continues it: an application, or the browser.
        var canContinue: Bool { !handlers.isEmpty || offer.webpageHost != nil && !keptOut.hasBrowser }
    }

    private var held: [DeviceID: Held] = [:]
    private var shown: [DeviceID: [Entry]] = [:]
    /// The hidden offers as they were last told, to find out whether they have changed.
    private var hiddenOffers: [DeviceID: Hidden] = [:]
    private var invitations = Invitations()
    private var continuedParked = ParkedContinuations()
    private var isEnabled: Bool
    private var showsUnhandled: Bool

    /// No offers yet. `showsUnhandled`: whether offers are shown that nothing here can continue.
    package init(isEnabled: Bool, showsUnhandled: Bool = false) {
        self.isEnabled = isEnabled
        self.showsUnhandled = showsUnhandled
    }

    /// The offers that the user sees, by device.
    package var entries: [Entry] {
        shown.keys.sorted().flatMap { shown[$0, default: []] }
    }

    /// The offers that the user does not see because nothing here continues them, by device.
    package var hidden: [Hidden] {
        hiddenOffers.values.sorted { $0.device < $1.device }
    }

    /// The offers that have not ended, seen or not.
    package var offers: [DeviceID: Offer] {
        held.mapValues(\.offer)
    }

    /// Whether `device` has left this here, and has not offered anything since.
    package func isParked(_ id: ActivityID, of device: DeviceID) -> Bool {
        held[device].map { $0.offer.id == id && $0.parkedAt != 0 } ?? false
    }

    /// The offer of this identifier if the user sees it.
    package func entry(_ id: ActivityID, of device: DeviceID) -> Entry? {
        shown[device]?.first { $0.offer.id == id }
    }

    /// What is to continue an offer that the user sees: the application that was named, or else the best one,
    /// or else the browser. Fails with `disabled`, `unknownObject`, `offerWithdrawn` (it has ended),
    /// `invalidArguments` (the application is not one of the offer's handlers) or `noApplication` (there is none, or the
    /// one that was named is excluded).
    package func target(
        for id: ActivityID, of device: DeviceID, application: ApplicationID? = nil
    ) throws(HandoffFailure) -> Target {
        guard isEnabled else { throw .disabled }
        guard let entry = entry(id, of: device) else { throw .unknownOffer }
        guard let keptOut = held[device]?.keptOut, held[device]?.offer.id == id else {
            throw .offerWithdrawn
        }
        if let application {
            guard !keptOut.applications.contains(application) else { throw .excluded(application) }
            guard let handler = entry.handlers.first(where: { $0.id == application }) else {
                let list = entry.handlers.map(\.id.description).joined(separator: ", ")
                throw HandoffFailure(
                    .invalidArguments,
                    "\(application) cannot continue this activity. Name one of its handlers"
                        + (list.isEmpty ? ", of which there are none." : ": \(list)."))
            }
            return Target(handler)
        }
        if let best = entry.handlers.first { return Target(best) }
        guard entry.offer.webpageHost != nil, !keptOut.hasBrowser else {
            throw .noApplication(for: entry.offer, keptOut: keptOut)
        }
        return .browser(nil)
    }

    /// A peer offers something: a new identifier replaces what it offered before, the same one replaces the
    /// summary. The date of an offer stays as it was told first. `parkedAt`: when it left it here, in microseconds since the
    /// Unix epoch, if it did and is away.
    package mutating func offer(
        _ offer: Offer, from device: DeviceID, handlers: [Handler], keptOut: KeptOut = KeptOut(),
        parkedAt: Int64 = 0
    ) -> [Action] {
        guard isEnabled else { return [] }
        var new = Held(offer: offer, handlers: handlers, keptOut: keptOut, parkedAt: parkedAt)
        if let former = held[device], former.offer.id == offer.id {
            new.offer = offer.following(former.offer)
            new.isDismissed = former.isDismissed
        }
        held[device] = new
        return show(device)
    }

    /// A peer no longer offers this activity. Nothing happens if that is not what it offers.
    package mutating func withdraw(_ id: ActivityID, from device: DeviceID) -> [Action] {
        guard held[device]?.offer.id == id else { return [] }
        held[device] = nil
        return show(device)
    }

    /// A peer is gone, and its offer with it.
    package mutating func peerRemoved(_ device: DeviceID) -> [Action] {
        held[device] = nil
        invitations.forget(device)
        continuedParked.forget(device)
        return show(device)
    }

    /// The bridge is gone, and all peers with it.
    package mutating func allPeersRemoved() -> [Action] {
        held.removeAll()
        invitations = Invitations()
        return showAll()
    }

    /// The applications may have changed: `handlers` says which of them can continue an offer, best first, and `keptOut`
    /// which could if the user had not excluded them.
    package mutating func updateHandlers(
        _ handlers: (Offer) -> [Handler], keptOut: (Offer) -> KeptOut = { _ in KeptOut() }
    ) -> [Action] {
        held = held.mapValues {
            var one = $0
            one.handlers = handlers(one.offer)
            one.keptOut = keptOut(one.offer)
            return one
        }
        return showAll()
    }

    /// The user does not want to see this offer again until it ends, or until it is sent to this device.
    package mutating func dismiss(_ id: ActivityID, of device: DeviceID) throws(HandoffFailure) -> [Action] {
        guard entry(id, of: device) != nil else { throw .unknownOffer }
        guard held[device]?.offer.id == id else { return [] }
        held[device]?.isDismissed = true
        invitations.end(id, of: device)
        return show(device)
    }

    // MARK: What was left here

    /// What a peer had left here was continued. Until it knows, it is not shown again in that state.
    package mutating func continuedParked(_ entry: ParkedContinuations.Entry, at now: Instant) -> [Action] {
        continuedParked.add(entry, at: now)
        if let one = held[entry.device], one.parkedAt != 0,
            continuedParked.contains(one.offer, of: entry.device)
        {
            held[entry.device] = nil
        }
        return show(entry.device)
    }

    /// What `device`, which there is a link to, has to be told.
    package mutating func untold(by device: DeviceID, at now: Instant) -> [ParkedContinuations.Entry] {
        continuedParked.untold(by: device, at: now)
    }

    /// The peer knows it, or never will.
    package mutating func settled(_ entry: ParkedContinuations.Entry) -> [Action] {
        continuedParked.settled(entry)
        return show(entry.device)
    }

    // MARK: Invitations

    /// The user of a peer has sent what that offers to this device: it is shown as sent, now or later, even if it was
    /// dismissed. Nothing happens while it is being continued. Fails with `offerWithdrawn` unless the peer offers it.
    package mutating func invite(
        _ id: ActivityID, from device: DeviceID, at now: Moment
    ) throws(HandoffFailure) -> [Action] {
        guard held[device]?.offer.id == id else { throw .offerWithdrawn }
        guard entry(id, of: device)?.isContinuing != true else { return [] }
        return invitations.invite(id, by: device, at: now) ? showInvited(device) : []
    }

    /// The next invitation of a peer repeats one that came at `time`, in microseconds since the Unix epoch.
    package mutating func willInvite(from time: Int64, by device: DeviceID) {
        invitations.willInvite(from: time, by: device)
    }

    /// From now on what a peer sends is shown as sent, or not.
    package mutating func setMuted(_ isMuted: Bool, _ device: DeviceID) -> [Action] {
        invitations.setMuted(isMuted, device)
        return show(device)
    }

    /// When `advance(to:)` has something to do; nil if time changes nothing.
    package var nextDeadline: Instant? { invitations.nextDeadline }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        invitations.advance(to: now).keys.sorted().flatMap { showInvited($0) }
    }

    private mutating func showInvited(_ device: DeviceID) -> [Action] {
        held[device]?.isDismissed = false
        return show(device)
    }

    // MARK: The user

    /// The user switched Handoff on or off. While it is off, nothing is known of what peers offer; they have
    /// to offer it again.
    package mutating func setEnabled(_ isEnabled: Bool) -> [Action] {
        self.isEnabled = isEnabled
        if !isEnabled {
            for device in held.keys { invitations.offered(nil, by: device) }
            held.removeAll()
        }
        return showAll()
    }

    /// Whether offers are shown that nothing here can continue.
    package mutating func setShowsUnhandled(_ showsUnhandled: Bool) -> [Action] {
        self.showsUnhandled = showsUnhandled
        return showAll()
    }

    /// An offer that the user sees is being continued, or its continuation is over.
    package mutating func setContinuing(
        _ isContinuing: Bool, _ id: ActivityID, of device: DeviceID
    ) -> [Action] {
        guard let index = shown[device]?.firstIndex(where: { $0.offer.id == id }),
            var entry = shown[device]?[index], entry.isContinuing != isContinuing
        else { return [] }
        if isContinuing { invitations.end(id, of: device) }
        entry.isContinuing = isContinuing
        entry.invitedAt = 0
        shown[device]?[index] = entry
        let staysShown = isContinuing || wanted(of: device)?.offer.id == id
        return (staysShown ? [.changed(entry)] : []) + show(device)
    }

    /// The offer of `device`, if it ought to be visible.
    private func wanted(of device: DeviceID) -> Held? {
        guard isEnabled, let held = held[device], isWanted(held, of: device) else { return nil }
        return held.canContinue || showsUnhandled ? held : nil
    }

    private func isWanted(_ held: Held, of device: DeviceID) -> Bool {
        !held.isDismissed && !continuedParked.contains(held.offer, of: device)
    }

    /// The offer of `device`, if it is hidden because nothing here continues it.
    private func hidden(of device: DeviceID) -> Hidden? {
        guard isEnabled, !showsUnhandled, let held = held[device], isWanted(held, of: device),
            !held.canContinue,
            entry(held.offer.id, of: device) == nil
        else { return nil }
        return Hidden(
            device: device, offer: held.offer, isInvited: invitations.isShown(held.offer.id, of: device),
            keptOut: held.keptOut)
    }

    /// Brings what is visible and what is hidden of `device` in line with what ought to be.
    private mutating func show(_ device: DeviceID) -> [Action] {
        invitations.offered(held[device]?.offer.id, by: device)
        let actions = showSeen(device)
        let hidden = hidden(of: device)
        guard hidden != hiddenOffers[device] else { return actions }
        hiddenOffers[device] = hidden
        return actions + [.hiddenChanged]
    }

    private mutating func showSeen(_ device: DeviceID) -> [Action] {
        let wanted = wanted(of: device)
        var actions: [Action] = []
        var entries: [Entry] = []
        for entry in shown[device, default: []] {
            if let wanted, wanted.offer.id == entry.offer.id {
                var current = entry
                current.offer = wanted.offer
                current.handlers = wanted.handlers
                current.parkedAt = wanted.parkedAt
                current.invitedAt = invitations.time(of: entry.offer.id, by: device)
                if current != entry { actions.append(.changed(current)) }
                entries.append(current)
            } else if entry.isContinuing {
                entries.append(entry)
            } else {
                actions.append(.removed(device, entry.offer.id))
            }
        }
        if let wanted, !entries.contains(where: { $0.offer.id == wanted.offer.id }) {
            let entry = Entry(
                device: device, offer: wanted.offer, handlers: wanted.handlers, isContinuing: false,
                invitedAt: invitations.time(of: wanted.offer.id, by: device), parkedAt: wanted.parkedAt)
            entries.append(entry)
            actions.append(.added(entry))
        }
        shown[device] = entries.isEmpty ? nil : entries
        return actions
    }

    private mutating func showAll() -> [Action] {
        let devices = Set(held.keys).union(shown.keys).union(hiddenOffers.keys).sorted()
        let actions = devices.flatMap { show($0) }
        // One such action stands for all of them.
        let others = actions.filter { $0 != .hiddenChanged }
        return others + (others.count < actions.count ? [.hiddenChanged] : [])
    }
}
