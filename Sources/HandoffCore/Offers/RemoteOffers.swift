// SPDX-License-Identifier: LGPL-2.1-or-later

// This file is long because what is held, shown and hidden is one state, into which other files would have to reach.

/// What peers offer, and which of these offers the user gets to see.
///
/// A device has one offer of its own at a time, and beside it those that it has kept for this device alone, and what it has
/// listed for the user here. An offer is shown while Handoff is on, the user has not dismissed it, and something here can
/// continue it: an application, or the browser if it has a web page. What was listed is shown for as long as
/// ``Deadline/listing``, also if nothing continues it. An offer that is being continued remains visible until that is over,
/// even if it has ended in the meantime.
package struct RemoteOffers: Sendable {
    /// An activity of a device.
    private struct Key: Hashable, Sendable {
        let device: DeviceID
        let id: ActivityID

        init(_ device: DeviceID, _ id: ActivityID) { (self.device, self.id) = (device, id) }
    }

    /// What is known of an activity: it is what its device offers to all, or has kept for this device, or has listed.
    private struct Held {
        var offer: Offer
        var handlers: [Handler]
        var keptOut: KeptOut
        var parkedAt: Int64 = 0
        /// The activity of which it is the state, if it was kept.
        var origin: ActivityID?
        var isListed = false
        var isDismissed = false

        /// Whether something here continues it: an application, or the browser.
        var canContinue: Bool { offer.isContinued(by: handlers, keptOut) }
    }

    private var held: [Key: Held] = [:]
    /// What each device offers to all.
    private var own: [DeviceID: ActivityID] = [:]
    private var shown: [Key: Entry] = [:]
    /// The hidden offers as they were last told, to find out whether they have changed.
    private var hiddenOffers: [Key: Hidden] = [:]
    private var invitations = Invitations()
    /// What is remembered of what was kept for this device.
    package private(set) var kept = KeptForUs()
    private var continuedParked = ParkedContinuations()
    /// Until when what a device has listed is shown.
    private var listings: [DeviceID: Instant] = [:]
    private var isEnabled: Bool
    private var showsUnhandled: Bool

    /// No offers yet. `showsUnhandled`: whether offers are shown that nothing here can continue.
    package init(isEnabled: Bool, showsUnhandled: Bool = false) {
        self.isEnabled = isEnabled
        self.showsUnhandled = showsUnhandled
    }

    /// The offers that the user sees, by device.
    package var entries: [Entry] { sorted(shown.keys).compactMap { shown[$0] } }

    /// The offers that the user does not see because nothing here continues them, by device.
    package var hidden: [Hidden] { sorted(hiddenOffers.keys).compactMap { hiddenOffers[$0] } }

    /// The offers of the devices' own that have not ended, seen or not.
    package var offers: [DeviceID: Offer] {
        Dictionary(
            uniqueKeysWithValues: own.compactMap { device, id in
                held[Key(device, id)].map { (device, $0.offer) }
            })
    }

    /// The offer of the device's own that has not ended, seen or not.
    package func offer(of device: DeviceID) -> Offer? { ownKey(of: device).flatMap { held[$0]?.offer } }

    /// All offers of `device` that have not ended, seen or not.
    package func offers(of device: DeviceID) -> [Offer] { keys(of: device).compactMap { held[$0]?.offer } }

    /// What `device` offers under this identifier, seen or not.
    package func offer(_ id: ActivityID, of device: DeviceID) -> Offer? { held[Key(device, id)]?.offer }

    /// Whether `device` has kept this for this device alone; nil if it is not known.
    package func isKept(_ id: ActivityID, of device: DeviceID) -> Bool? {
        let key = Key(device, id)
        return held[key].map { $0.origin != nil } ?? shown[key]?.isKept
    }

    /// Whether `device` has left this here, and has not offered anything since.
    package func isParked(_ id: ActivityID, of device: DeviceID) -> Bool {
        own[device] == id && held[Key(device, id)]?.parkedAt ?? 0 != 0
    }

    /// The offer of this identifier if the user sees it.
    package func entry(_ id: ActivityID, of device: DeviceID) -> Entry? { shown[Key(device, id)] }

    /// Whether `device` has listed this for the user here, and so may let it be continued though it offers something else.
    package func isListed(_ id: ActivityID, of device: DeviceID) -> Bool {
        held[Key(device, id)]?.isListed ?? false
    }

    private func ownKey(of device: DeviceID) -> Key? { own[device].map { Key(device, $0) } }

    /// Whether the device offers it, to all or to this device alone.
    private func isOffered(_ key: Key) -> Bool { own[key.device] == key.id || held[key]?.origin != nil }

    /// What there is of `device`.
    private func keys(of device: DeviceID) -> [Key] { allKeys { $0.device == device } }

    private func allKeys(_ isMeant: (Key) -> Bool = { _ in true }) -> [Key] {
        sorted(Set(held.keys).union(shown.keys).union(hiddenOffers.keys).filter(isMeant))
    }

    /// By device, and of one what it offers to all first.
    private func sorted(_ keys: some Collection<Key>) -> [Key] {
        func rank(_ key: Key) -> Int { own[key.device] == key.id ? 0 : held[key]?.origin != nil ? 1 : 2 }
        return keys.sorted { one, other in
            (one.device, rank(one), one.id.description) < (other.device, rank(other), other.id.description)
        }
    }

    /// Forgets what is neither offered nor listed.
    private mutating func drop(_ key: Key) {
        if !isOffered(key), held[key]?.isListed != true { held[key] = nil }
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
        guard let held = held[Key(device, id)] else { throw .offerWithdrawn }
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
        let key = Key(device, offer.id)
        var new = Held(
            offer: offer, handlers: handlers, keptOut: keptOut, parkedAt: parkedAt, origin: origin)
        if let former = held[key] {
            new.offer = offer.following(former.offer)
            new.isListed = former.isListed
            new.isDismissed = former.isDismissed
        }
        held[key] = new
        let former = ownKey(of: device)
        if origin == nil, former != key {
            own[device] = offer.id
            if let former { end(former) }
        }
        // What was kept may be the same state as what is offered to all.
        return show([former, key])
    }

    /// A peer no longer offers this activity. Nothing happens if that is not what it offers. What it has listed may have been
    /// closed, or is open still: that is found out when it is continued.
    package mutating func withdraw(_ id: ActivityID, from device: DeviceID) -> [Action] {
        let key = Key(device, id)
        guard isOffered(key) else { return [] }
        end(key)
        return show([key, ownKey(of: device)])
    }

    /// The device does not offer it any more.
    private mutating func end(_ key: Key) {
        if own[key.device] == key.id { own[key.device] = nil }
        held[key]?.origin = nil
        held[key]?.parkedAt = 0
        held[key]?.isDismissed = false
        drop(key)
    }

    /// A peer is gone, and its offers with it.
    package mutating func peerRemoved(_ device: DeviceID) -> [Action] {
        let keys = keys(of: device)
        for key in keys { held[key] = nil }
        own[device] = nil
        listings[device] = nil
        invitations.forget(device)
        continuedParked.forget(device)
        kept.forget(device)
        return show(keys)
    }

    /// The bridge is gone, and all peers with it.
    package mutating func allPeersRemoved() -> [Action] {
        held = [:]
        own = [:]
        listings = [:]
        invitations = Invitations()
        return show(allKeys())
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
        return show(allKeys())
    }

    /// The user does not want to see this offer again until it ends, or until it is sent to this device.
    package mutating func dismiss(_ id: ActivityID, of device: DeviceID) throws(HandoffFailure) -> [Action] {
        let key = Key(device, id)
        guard shown[key] != nil else { throw .unknownOffer }
        guard let one = held[key] else { return [] }
        if one.origin != nil { return settled(id, of: device) }
        held[key]?.isListed = false
        held[key]?.isDismissed = true
        drop(key)
        invitations.end(id, of: device)
        return show([key])
    }

    /// What `device` has kept for this device was continued here, or put aside: it is not shown again.
    package mutating func settled(_ id: ActivityID, of device: DeviceID) -> [Action] {
        kept.settled(id, of: device)
        let (key, own) = (Key(device, id), ownKey(of: device))
        // Neither is the same state, if its device offers that to all.
        if let state = held[key], let own, let same = held[own], isKept(same.offer, of: device),
            state.origin == own.id
        {
            held[own]?.isDismissed = true
        }
        if held[key]?.origin != nil { end(key) }
        return show([key, own])
    }

    /// What is remembered from before this program.
    package mutating func remember(_ entries: [KeptForUs.Entry]) -> [Action] {
        kept = KeptForUs(entries).merged(with: kept)
        let gone = sorted(held.filter { $1.origin != nil && kept.isSettled($0.id, of: $0.device) }.keys)
        for key in gone { end(key) }
        return show(gone + gone.map { ownKey(of: $0.device) })
    }

    // MARK: What was listed

    /// The user wants to see what is open at `device`, which has listed this. It takes the place of what was listed before.
    package mutating func list(_ listed: [Listed], from device: DeviceID, at now: Instant) -> [Action] {
        guard isEnabled else { return [] }
        let former = held
        listings[device] = now.advanced(by: Deadline.listing)
        forgetListed(of: device)
        for one in listed {
            let key = Key(device, one.offer.id)
            // In that state it was continued here.
            if one.parkedAt != 0, continuedParked.contains(one.offer, of: device) { continue }
            if held[key] == nil {
                let offer = former[key].map { one.offer.following($0.offer) } ?? one.offer
                held[key] = Held(
                    offer: offer, handlers: one.handlers, keptOut: one.keptOut, parkedAt: one.parkedAt)
            }
            held[key]?.isListed = true
        }
        return show(keys(of: device))
    }

    private mutating func forgetListed(of device: DeviceID) {
        for key in held.keys where key.device == device { forgetListed(key) }
    }

    private mutating func forgetListed(_ key: Key) {
        held[key]?.isListed = false
        drop(key)
    }

    /// There is a link to `device`, which says itself what is open there: what it had left here is listed no more.
    package mutating func awake(_ device: DeviceID) -> [Action] {
        let left = keys(of: device).filter { held[$0]?.parkedAt ?? 0 != 0 }
        for key in left { forgetListed(key) }
        return show(left)
    }

    // MARK: What was left here

    /// What a peer had left here was continued. Until it knows, it is not shown again in that state.
    package mutating func continuedParked(_ entry: ParkedContinuations.Entry, at now: Instant) -> [Action] {
        continuedParked.add(entry, at: now)
        let key = Key(entry.device, entry.activity)
        if let one = held[key], one.parkedAt != 0, continuedParked.contains(one.offer, of: entry.device) {
            held[key]?.isListed = false
            end(key)
        }
        return show([key, ownKey(of: entry.device)])
    }

    /// What `device`, which there is a link to, has to be told.
    package mutating func untold(by device: DeviceID, at now: Instant) -> [ParkedContinuations.Entry] {
        continuedParked.untold(by: device, at: now)
    }

    /// The peer knows it, or never will.
    package mutating func settled(_ entry: ParkedContinuations.Entry) -> [Action] {
        continuedParked.settled(entry)
        return show([ownKey(of: entry.device)])
    }

    // MARK: Invitations

    /// The user of a peer has sent what that offers to this device: it is shown as sent, now or later, even if it was
    /// dismissed. Nothing happens while it is being continued. Fails with `offerWithdrawn` unless the peer offers it.
    package mutating func invite(
        _ id: ActivityID, from device: DeviceID, at now: Moment
    ) throws(HandoffFailure) -> [Action] {
        let key = Key(device, id)
        guard isOffered(key) else { throw .offerWithdrawn }
        guard shown[key]?.isContinuing != true else { return [] }
        guard held[key]?.origin == nil else {
            kept.invited(id, by: device, at: invitations.takeTime(by: device, at: now))
            return show([key, ownKey(of: device)])
        }
        return invitations.invite(id, by: device, at: now) ? showInvited([device]) : []
    }

    /// The next invitation of a peer repeats one that came at `time`, in microseconds since the Unix epoch.
    package mutating func willInvite(from time: Int64, by device: DeviceID) {
        invitations.willInvite(from: time, by: device)
    }

    /// From now on what a peer sends is shown as sent, or not.
    package mutating func setMuted(_ isMuted: Bool, _ device: DeviceID) -> [Action] {
        invitations.setMuted(isMuted, device)
        return show(keys(of: device))
    }

    /// When `advance(to:)` has something to do; nil if time changes nothing.
    package var nextDeadline: Instant? {
        [invitations.nextDeadline, listings.values.min()].compactMap { $0 }.min()
    }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        let ended = listings.filter { $0.value <= now }.keys.sorted()
        for device in ended {
            listings[device] = nil
            forgetListed(of: device)
        }
        return show(ended.flatMap { keys(of: $0) }) + showInvited(invitations.advance(to: now).keys.sorted())
    }

    private mutating func showInvited(_ devices: [DeviceID]) -> [Action] {
        let keys = devices.map { ownKey(of: $0) }
        for case let key? in keys { held[key]?.isDismissed = false }
        return show(keys)
    }

    // MARK: The user

    /// The user switched Handoff on or off. While it is off, nothing is known of what peers offer; they have
    /// to offer it again.
    package mutating func setEnabled(_ isEnabled: Bool) -> [Action] {
        self.isEnabled = isEnabled
        if !isEnabled {
            let devices = own.keys
            (held, own, listings) = ([:], [:], [:])
            for device in devices { invitations.offered(nil, by: device) }
        }
        return show(allKeys())
    }

    /// Whether offers are shown that nothing here can continue.
    package mutating func setShowsUnhandled(_ showsUnhandled: Bool) -> [Action] {
        self.showsUnhandled = showsUnhandled
        return show(allKeys())
    }

    /// An offer that the user sees is being continued, or its continuation is over.
    package mutating func setContinuing(
        _ isContinuing: Bool, _ id: ActivityID, of device: DeviceID
    ) -> [Action] {
        let key = Key(device, id)
        guard var entry = shown[key], entry.isContinuing != isContinuing else { return [] }
        if isContinuing { invitations.end(id, of: device) }
        entry.isContinuing = isContinuing
        entry.invitedAt = 0
        shown[key] = entry
        let staysShown = isContinuing || wanted(key) != nil
        return (staysShown ? [.changed(entry)] : []) + show([key])
    }

    /// What is known of an activity that ought to be visible, and whether only because it was listed.
    private func wanted(_ key: Key) -> (held: Held, isListed: Bool)? {
        guard isEnabled, let one = held[key] else { return nil }
        if isOffered(key), isWanted(one, of: key.device), one.canContinue || showsUnhandled {
            return (one, false)
        }
        return one.isListed ? (one, true) : nil
    }

    private func isWanted(_ one: Held, of device: DeviceID) -> Bool {
        !one.isDismissed && !continuedParked.contains(one.offer, of: device)
            && (one.origin != nil || !isKept(one.offer, of: device))
    }

    /// Whether this state of the activity is here as what its device has kept for this one, and so is shown already.
    private func isKept(_ offer: Offer, of device: DeviceID) -> Bool {
        // Without anything that was kept, as nearly always, there is nothing to compare.
        held.count > 1
            && held.contains {
                $0.device == device && $1.origin == offer.id && $1.offer.revision >= offer.revision
            }
    }

    /// When an activity was sent to this device, in microseconds since the Unix epoch; 0 if that is not shown.
    private func invitedAt(_ key: Key) -> Int64 {
        guard held[key]?.origin != nil else { return invitations.time(of: key.id, by: key.device) }
        return invitations.isMuted(key.device) ? 0 : kept.invitedAt(key.id, of: key.device)
    }

    /// The offer, if it is hidden because nothing here continues it.
    private func hidden(_ key: Key) -> Hidden? {
        guard isEnabled, !showsUnhandled, isOffered(key), let one = held[key], isWanted(one, of: key.device),
            !one.canContinue, shown[key]?.isListed != false
        else { return nil }
        return Hidden(
            device: key.device, offer: one.offer, isInvited: invitedAt(key) != 0, keptOut: one.keptOut)
    }

    /// Brings what is visible and what is hidden of these in line with what ought to be.
    private mutating func show(_ keys: [Key?]) -> [Action] {
        var (actions, isHiddenChanged): ([Action], Bool) = ([], false)
        let keys = keys.compactMap { $0 }
        for device in Set(keys.map(\.device)) { invitations.offered(own[device], by: device) }
        for key in keys {
            if let action = showSeen(key) { actions.append(action) }
            let hidden = hidden(key)
            guard hidden != hiddenOffers[key] else { continue }
            hiddenOffers[key] = hidden
            isHiddenChanged = true
        }
        // One such action stands for all of them.
        return actions + (isHiddenChanged ? [.hiddenChanged] : [])
    }

    private mutating func showSeen(_ key: Key) -> Action? {
        let former = shown[key]
        guard let (one, isListed) = wanted(key) else {
            guard let former, !former.isContinuing else { return nil }
            shown[key] = nil
            return .removed(key.device, key.id)
        }
        let isContinuing = former?.isContinuing ?? false
        let entry = Entry(
            device: key.device, offer: one.offer, handlers: one.handlers, keptOut: one.keptOut,
            isContinuing: isContinuing, invitedAt: isContinuing || isListed ? 0 : invitedAt(key),
            parkedAt: one.parkedAt, isListed: isListed, isKept: one.origin != nil)
        guard entry != former else { return nil }
        shown[key] = entry
        return former == nil ? .added(entry) : .changed(entry)
    }
}

extension Offer {
    /// Whether one of these continues it, or the browser does, which the user may have kept out.
    func isContinued(by handlers: [Handler], _ keptOut: KeptOut) -> Bool {
        !handlers.isEmpty || webpageHost != nil && !keptOut.hasBrowser
    }
}
