// SPDX-License-Identifier: LGPL-2.1-or-later

// This file is long because what is held, shown and hidden is one state, into which other files would have to reach.

/// What peers offer, and which of these offers the user gets to see.
///
/// A device has one offer of its own at a time, and beside it those that it has kept for this device alone, and what it has
/// listed for the user here. An offer is shown while Handoff is on, the user has not dismissed it, and something here can
/// continue it: an application, or the browser if it has a web page. What was listed is shown for as long as
/// ``Deadline/listing``, also if nothing continues it. An offer that is being continued remains visible until that is over, even if it has ended in the
/// meantime.
package struct RemoteOffers: Sendable {
    /// A place for one offer at a time.
    private struct Place: Hashable, Comparable, Sendable {
        let device: DeviceID
        /// What the device has kept for this one, if the place is for that.
        var kept: ActivityID?
        /// What the device has listed, if the place is for that.
        var listed: ActivityID?

        /// Whether the place is for what the device offers to all.
        var isOwn: Bool { kept == nil && listed == nil }

        private var text: String { kept?.description ?? listed.map { " \($0)" } ?? "" }

        static func < (one: Place, other: Place) -> Bool {
            (one.device, one.text) < (other.device, other.text)
        }
    }

    /// What is offered in a place, seen or not.
    private struct Held {
        var offer: Offer
        var handlers: [Handler]
        var keptOut: KeptOut
        var parkedAt: Int64 = 0
        /// The activity of which it is the state, if it was kept.
        var origin: ActivityID?
        var isDismissed = false

        /// Whether something here continues it: an application, or the browser.
        var canContinue: Bool { !handlers.isEmpty || offer.webpageHost != nil && !keptOut.hasBrowser }
    }

    private var held: [Place: Held] = [:]
    private var shown: [Place: [Entry]] = [:]
    /// The hidden offers as they were last told, to find out whether they have changed.
    private var hiddenOffers: [Place: Hidden] = [:]
    private var invitations = Invitations()
    /// What is remembered of what was kept for this device.
    package private(set) var kept = KeptForUs()
    private var continuedParked = ParkedContinuations()
    /// Until when what a device has listed is shown.
    private var listings: [DeviceID: Instant] = [:]
    /// The devices that have ever listed something.
    private var listing: Set<DeviceID> = []
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
        hiddenOffers.keys.sorted().compactMap { hiddenOffers[$0] }
    }

    /// The offers of the devices' own that have not ended, seen or not.
    package var offers: [DeviceID: Offer] {
        Dictionary(
            uniqueKeysWithValues: held.compactMap { $0.isOwn ? ($0.device, $1.offer) : nil })
    }

    /// The offer of the device's own that has not ended, seen or not.
    package func offer(of device: DeviceID) -> Offer? { held[Place(device: device)]?.offer }

    /// All offers of `device` that have not ended, seen or not.
    package func offers(of device: DeviceID) -> [Offer] { places(of: device).compactMap { held[$0]?.offer } }

    /// What `device` offers under this identifier, seen or not.
    package func offer(_ id: ActivityID, of device: DeviceID) -> Offer? {
        held[place(of: id, device)].flatMap { $0.offer.id == id ? $0.offer : nil }
    }

    /// Whether `device` has kept this for this device alone; nil if it is not known.
    package func isKept(_ id: ActivityID, of device: DeviceID) -> Bool? {
        let place = place(of: id, device)
        guard held[place]?.offer.id == id || entry(id, of: device) != nil else { return nil }
        return place.kept != nil
    }

    /// Whether `device` has left this here, and has not offered anything since.
    package func isParked(_ id: ActivityID, of device: DeviceID) -> Bool {
        held[Place(device: device)].map { $0.offer.id == id && $0.parkedAt != 0 } ?? false
    }

    /// The offer of this identifier if the user sees it.
    package func entry(_ id: ActivityID, of device: DeviceID) -> Entry? {
        shown[place(of: id, device)]?.first { $0.offer.id == id }
    }

    /// Where `id` is shown, or else where it is offered, or would be.
    private func place(of id: ActivityID, _ device: DeviceID) -> Place {
        let (own, kept) = (Place(device: device), Place(device: device, kept: id))
        if held[kept] != nil || shown[kept] != nil { return kept }
        let listed = Place(device: device, listed: id)
        if shown[listed] != nil { return listed }
        return held[listed] == nil || held[own]?.offer.id == id ? own : listed
    }

    /// Whether `device` has listed this for the user here, and so may let it be continued though it offers something else.
    package func isListed(_ id: ActivityID, of device: DeviceID) -> Bool {
        held[Place(device: device, listed: id)] != nil
    }

    /// What `device` has listed for the user here.
    private func listedPlaces(of device: DeviceID) -> [Place] {
        // Nearly always nothing is listed, and this comes with each offer.
        guard listing.contains(device) else { return [] }
        return places(of: device).filter { $0.listed != nil }
    }

    /// Where something of `device` is offered or shown.
    private func places(of device: DeviceID) -> [Place] {
        Set(held.keys).union(shown.keys).union(hiddenOffers.keys).filter { $0.device == device }.sorted()
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
        guard let held = held[place(of: id, device)], held.offer.id == id else { throw .offerWithdrawn }
        let keptOut = held.keptOut
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
    /// Unix epoch, if it did and is away. `origin`: the activity of which it is the state, if the peer has kept it for this
    /// device alone; then it stands beside the others.
    package mutating func offer(
        _ offer: Offer, from device: DeviceID, handlers: [Handler], keptOut: KeptOut = KeptOut(),
        parkedAt: Int64 = 0, keptOf origin: ActivityID? = nil
    ) -> [Action] {
        guard isEnabled else { return [] }
        let place = Place(device: device, kept: origin == nil ? nil : offer.id)
        var new = Held(
            offer: offer, handlers: handlers, keptOut: keptOut, parkedAt: parkedAt, origin: origin)
        if let former = held[place], former.offer.id == offer.id {
            new.offer = offer.following(former.offer)
            new.isDismissed = former.isDismissed
        }
        held[place] = new
        let listed = Place(device: device, listed: offer.id)
        if place.isOwn, held[listed] != nil {
            held[listed] = Held(offer: new.offer, handlers: handlers, keptOut: keptOut)
        }
        return show(place)
    }

    /// A peer no longer offers this activity. Nothing happens if that is not what it offers. What it has listed may have been
    /// closed, or is open still: that is found out when it is continued.
    package mutating func withdraw(_ id: ActivityID, from device: DeviceID) -> [Action] {
        let kept = Place(device: device, kept: id)
        let place = held[kept] == nil ? Place(device: device) : kept
        guard held[place]?.offer.id == id else { return [] }
        held[place] = nil
        return show(place)
    }

    /// A peer is gone, and its offers with it.
    package mutating func peerRemoved(_ device: DeviceID) -> [Action] {
        let places = places(of: device)
        for place in places { held[place] = nil }
        listings[device] = nil
        invitations.forget(device)
        continuedParked.forget(device)
        kept.forget(device)
        return places.flatMap { show($0) }
    }

    /// The bridge is gone, and all peers with it.
    package mutating func allPeersRemoved() -> [Action] {
        held.removeAll()
        listings = [:]
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
        let place = place(of: id, device)
        guard held[place]?.offer.id == id else { return [] }
        if place.kept != nil { return settled(id, of: device) }
        held[Place(device: device, listed: id)] = nil
        held[place]?.isDismissed = true
        invitations.end(id, of: device)
        return show(place)
    }

    /// What `device` has kept for this device was continued here, or put aside: it is not shown again.
    package mutating func settled(_ id: ActivityID, of device: DeviceID) -> [Action] {
        kept.settled(id, of: device)
        let (place, own) = (Place(device: device, kept: id), Place(device: device))
        // Neither is the same state, if its device offers that to all.
        if let state = held[place], let same = held[own], isKept(same.offer, of: device),
            state.origin == same.offer.id
        {
            held[own]?.isDismissed = true
        }
        held[place] = nil
        return show(place)
    }

    /// What is remembered from before this program.
    package mutating func remember(_ entries: [KeptForUs.Entry]) -> [Action] {
        kept = KeptForUs(entries).merged(with: kept)
        let gone = held.keys.filter { place in
            place.kept.map { kept.isSettled($0, of: place.device) } ?? false
        }
        for place in gone { held[place] = nil }
        return gone.sorted().flatMap { show($0) }
    }

    // MARK: What was listed

    /// The user wants to see what is open at `device`, which has listed this, with what can continue each of them and what could
    /// if the user had not excluded it. It takes the place of what was listed before.
    package mutating func list(
        _ listed: [(offer: Offer, handlers: [Handler], keptOut: KeptOut)], from device: DeviceID,
        at now: Instant
    ) -> [Action] {
        guard isEnabled else { return [] }
        let former = held
        for place in listedPlaces(of: device) { held[place] = nil }
        for one in listed where isKept(one.offer.id, of: device) != true {
            let place = Place(device: device, listed: one.offer.id)
            let offer = former[place].map { one.offer.following($0.offer) } ?? one.offer
            held[place] = Held(offer: offer, handlers: one.handlers, keptOut: one.keptOut)
        }
        listing.insert(device)
        listings[device] = now.advanced(by: Deadline.listing)
        return showListed(device)
    }

    /// What was listed of `device` has had its time.
    private mutating func endListing(of device: DeviceID) -> [Action] {
        listings[device] = nil
        for place in listedPlaces(of: device) { held[place] = nil }
        return showListed(device)
    }

    /// What is listed of `device` is shown as its offer as long as it is that, by one object.
    private mutating func showListed(_ device: DeviceID) -> [Action] {
        let own = Place(device: device)
        var actions: [Action] = []
        for place in listedPlaces(of: device) {
            guard let id = place.listed else { continue }
            let isOwn = wanted(in: own)?.offer.id == id
            let (former, new) = isOwn ? (place, own) : (own, place)
            if isOwn || held[place] != nil,
                let index = shown[former]?.firstIndex(where: { $0.offer.id == id }),
                let entry = shown[former]?.remove(at: index)
            {
                shown[new, default: []].append(entry)
                if shown[former]?.isEmpty == true { shown[former] = nil }
            }
            if !isOwn { actions += showSeen(place) }
        }
        return actions
    }

    // MARK: What was left here

    /// What a peer had left here was continued. Until it knows, it is not shown again in that state.
    package mutating func continuedParked(_ entry: ParkedContinuations.Entry, at now: Instant) -> [Action] {
        continuedParked.add(entry, at: now)
        let place = Place(device: entry.device)
        if let one = held[place], one.parkedAt != 0, continuedParked.contains(one.offer, of: entry.device) {
            held[place] = nil
        }
        return show(place)
    }

    /// What `device`, which there is a link to, has to be told.
    package mutating func untold(by device: DeviceID, at now: Instant) -> [ParkedContinuations.Entry] {
        continuedParked.untold(by: device, at: now)
    }

    /// The peer knows it, or never will.
    package mutating func settled(_ entry: ParkedContinuations.Entry) -> [Action] {
        continuedParked.settled(entry)
        return show(Place(device: entry.device))
    }

    // MARK: Invitations

    /// The user of a peer has sent what that offers to this device: it is shown as sent, now or later, even if it was
    /// dismissed. Nothing happens while it is being continued. Fails with `offerWithdrawn` unless the peer offers it.
    package mutating func invite(
        _ id: ActivityID, from device: DeviceID, at now: Moment
    ) throws(HandoffFailure) -> [Action] {
        let place = place(of: id, device)
        guard held[place]?.offer.id == id, place.kept != nil || offer(of: device)?.id == id else {
            throw .offerWithdrawn
        }
        guard entry(id, of: device)?.isContinuing != true else { return [] }
        guard place.kept == nil else {
            kept.invited(id, by: device, at: invitations.takeTime(by: device, at: now))
            return show(place)
        }
        return invitations.invite(id, by: device, at: now) ? showInvited(device) : []
    }

    /// The next invitation of a peer repeats one that came at `time`, in microseconds since the Unix epoch.
    package mutating func willInvite(from time: Int64, by device: DeviceID) {
        invitations.willInvite(from: time, by: device)
    }

    /// From now on what a peer sends is shown as sent, or not.
    package mutating func setMuted(_ isMuted: Bool, _ device: DeviceID) -> [Action] {
        invitations.setMuted(isMuted, device)
        return places(of: device).flatMap { show($0) }
    }

    /// When `advance(to:)` has something to do; nil if time changes nothing.
    package var nextDeadline: Instant? {
        [invitations.nextDeadline, listings.values.min()].compactMap { $0 }.min()
    }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        let ended = listings.filter { $0.value <= now }.keys.sorted()
        return ended.flatMap { endListing(of: $0) }
            + invitations.advance(to: now).keys.sorted().flatMap { showInvited($0) }
    }

    private mutating func showInvited(_ device: DeviceID) -> [Action] {
        let place = Place(device: device)
        held[place]?.isDismissed = false
        return show(place)
    }

    // MARK: The user

    /// The user switched Handoff on or off. While it is off, nothing is known of what peers offer; they have
    /// to offer it again.
    package mutating func setEnabled(_ isEnabled: Bool) -> [Action] {
        self.isEnabled = isEnabled
        if !isEnabled {
            listings = [:]
            for place in held.keys { invitations.offered(nil, by: place.device) }
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
        let place = place(of: id, device)
        guard let index = shown[place]?.firstIndex(where: { $0.offer.id == id }),
            var entry = shown[place]?[index], entry.isContinuing != isContinuing
        else { return [] }
        if isContinuing { invitations.end(id, of: device) }
        entry.isContinuing = isContinuing
        entry.invitedAt = 0
        shown[place]?[index] = entry
        let staysShown = isContinuing || wanted(in: place)?.offer.id == id
        return (staysShown ? [.changed(entry)] : []) + show(place)
    }

    /// The offer in `place`, if it ought to be visible.
    private func wanted(in place: Place) -> Held? {
        guard isEnabled, let held = held[place], isWanted(held, place) else { return nil }
        return held.canContinue || showsUnhandled || place.listed != nil ? held : nil
    }

    private func isWanted(_ held: Held, _ place: Place) -> Bool {
        if let id = place.listed { return wanted(in: Place(device: place.device))?.offer.id != id }
        return !held.isDismissed && !continuedParked.contains(held.offer, of: place.device)
            && (place.kept != nil || !isKept(held.offer, of: place.device))
    }

    /// Whether this state of the activity is here as what its device has kept for this one, and so is shown already.
    private func isKept(_ offer: Offer, of device: DeviceID) -> Bool {
        // Without anything that was kept, as nearly always, there is nothing to compare.
        held.count > 1
            && held.contains {
                $0.device == device && $1.origin == offer.id && $1.offer.revision >= offer.revision
            }
    }

    /// When what is offered in `place` was sent to this device, in microseconds since the Unix epoch; 0 if that is not shown.
    private func invitedAt(_ id: ActivityID, _ place: Place) -> Int64 {
        guard place.listed == nil else { return 0 }
        guard place.kept != nil else { return invitations.time(of: id, by: place.device) }
        return invitations.isMuted(place.device) ? 0 : kept.invitedAt(id, of: place.device)
    }

    /// The offer in `place`, if it is hidden because nothing here continues it.
    private func hidden(in place: Place) -> Hidden? {
        guard isEnabled, !showsUnhandled, place.listed == nil, let held = held[place], isWanted(held, place),
            !held.canContinue, shown[place]?.contains(where: { $0.offer.id == held.offer.id }) != true
        else { return nil }
        return Hidden(
            device: place.device, offer: held.offer, isInvited: invitedAt(held.offer.id, place) != 0,
            keptOut: held.keptOut)
    }

    /// Brings what is visible and what is hidden of `place` in line with what ought to be, and what depends on it.
    private mutating func show(_ place: Place) -> [Action] {
        showAlone(place) + (place.kept == nil ? [] : showAlone(Place(device: place.device)))
    }

    private mutating func showAlone(_ place: Place) -> [Action] {
        if place.isOwn { invitations.offered(held[place]?.offer.id, by: place.device) }
        let actions = (place.isOwn ? showListed(place.device) : []) + showSeen(place)
        let hidden = hidden(in: place)
        guard hidden != hiddenOffers[place] else { return actions }
        hiddenOffers[place] = hidden
        return actions + [.hiddenChanged]
    }

    private mutating func showSeen(_ place: Place) -> [Action] {
        let wanted = wanted(in: place)
        var actions: [Action] = []
        var entries: [Entry] = []
        for entry in shown[place, default: []] {
            if let wanted, wanted.offer.id == entry.offer.id {
                var current = entry
                current.offer = wanted.offer
                current.handlers = wanted.handlers
                current.keptOut = wanted.keptOut
                current.parkedAt = wanted.parkedAt
                current.isListed = place.listed != nil
                current.invitedAt = entry.isContinuing ? 0 : invitedAt(entry.offer.id, place)
                if current != entry { actions.append(.changed(current)) }
                entries.append(current)
            } else if entry.isContinuing {
                entries.append(entry)
            } else {
                actions.append(.removed(place.device, entry.offer.id))
            }
        }
        if let wanted, !entries.contains(where: { $0.offer.id == wanted.offer.id }) {
            let entry = Entry(
                device: place.device, offer: wanted.offer, handlers: wanted.handlers, keptOut: wanted.keptOut,
                isContinuing: false, invitedAt: invitedAt(wanted.offer.id, place), parkedAt: wanted.parkedAt,
                isListed: place.listed != nil)
            entries.append(entry)
            actions.append(.added(entry))
        }
        shown[place] = entries.isEmpty ? nil : entries
        return actions
    }

    private mutating func showAll() -> [Action] {
        let places = Set(held.keys).union(shown.keys).union(hiddenOffers.keys).sorted()
        let actions = places.flatMap { showAlone($0) }
        // One such action stands for all of them.
        let others = actions.filter { $0 != .hiddenChanged }
        return others + (others.count < actions.count ? [.hiddenChanged] : [])
    }
}
