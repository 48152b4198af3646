// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// What introductions need from their surroundings.
@MainLoop
protocol IntroductionsOwner: AnyObject {
    /// Whether the user wants peers to be told of each other, and to be shown whom they introduce.
    var introduces: Bool { get }
    /// The number of the link over which the peer `device` can be used; nil without one.
    func usableLink(with device: DeviceID) -> Int?
    /// Where the peer `device` is linked now, and announces that it is; none without a link.
    func linkedPlaces(of device: DeviceID) -> [KnockDestination]
    /// Says to the peer `device` which other peers there are, and which its user has unpaired; nil for what it knows already.
    func tell(_ device: DeviceID, introduced: [Introduction]?, retracted: [DeviceID]?)
    /// What there is to show of `device` may have changed.
    func deviceChanged(_ device: DeviceID)
    /// Trust in `device` has begun.
    func trustBegan(_ device: DeviceID)
    /// Dials `device` without waiting further, if it is to be dialled at all.
    func dialNow(_ device: DeviceID)
}

/// Peers tell each other of their other peers, and each user says once whether to pair with one that is introduced
/// (protocol.md, "Introductions"). Nothing is paired by what others say.
@MainLoop
final class Introductions {
    /// What the user is shown of the introduction of a device.
    struct Shown: Equatable {
        /// What has become of it.
        enum State: String {
            case none
            case offered
            case declined
            case accepted
        }

        var state = State.none
        /// Who introduces the device, those first that have been peers for longer.
        var introducers: [DeviceID] = []
        /// What the first of them calls it.
        var name = ""
        var type = ""
        /// Where they know it to be.
        var addresses: [NetworkAddress] = []
        /// Whose users have unpaired it, though it is a peer here.
        var retractors: [DeviceID] = []
    }

    /// What a peer was told last.
    private struct Told {
        let link: Int
        var introduced: [Introduction] = []
        var retracted: [DeviceID] = []
        var time: Instant?
    }

    /// How often a peer may say something over this link.
    private struct Rates {
        let link: Int
        var introduce: EventRate
        var retract: EventRate
    }

    /// How long peers are not told again.
    static let interval = Duration.seconds(10)
    /// How long it takes until others are told of a change: most come several at a time.
    private static let settlingTime = Duration.milliseconds(250)

    private let state: BridgeState
    private let owner: any IntroductionsOwner
    private let interval: Duration
    private let settlingTime: Duration
    private var book = IntroductionBook()
    private var told: [DeviceID: Told] = [:]
    private var rates: [DeviceID: Rates] = [:]
    /// How often each accepted device was dialled because something else was said of it.
    private var calls: [DeviceID: EventRate] = [:]
    /// How often that is done in a minute.
    private static let maximumCalls = 3
    private var soon: LoopSource?
    private lazy var later = DeadlineTimer { [weak self] in self?.tellAll() }

    init(
        _ state: BridgeState, _ owner: any IntroductionsOwner, interval: Duration = interval,
        settlingTime: Duration = settlingTime
    ) {
        (self.state, self.owner, self.interval) = (state, owner, interval)
        self.settlingTime = settlingTime
    }

    // MARK: Telling

    /// To be called when trust, a link, or what is known of a peer has changed.
    func update() {
        guard soon == nil else { return }
        soon = .timer(after: settlingTime) { [weak self] in self?.tellAll() }
    }

    private func tellAll() {
        soon = nil
        let all = owner.introduces ? ours : []
        let retracted = owner.introduces ? state.trust.unpairedByUser : []
        let now = Instant.now
        var due: Instant?
        for device in state.trust.devices {
            guard let link = owner.usableLink(with: device) else { continue }
            let introduced = Introduction.fitting(all.lazy.filter { $0.device != device })
            let former = told[device].flatMap { $0.link == link ? $0 : nil } ?? Told(link: link)
            let isNew = (
                introduced: introduced != former.introduced, retracted: retracted != former.retracted
            )
            guard isNew.introduced || isNew.retracted else { continue }
            let next = former.time?.advanced(by: interval) ?? now
            guard next <= now else {
                due = min(due ?? next, next)
                continue
            }
            told[device] = Told(link: link, introduced: introduced, retracted: retracted, time: now)
            owner.tell(
                device, introduced: isNew.introduced ? introduced : nil,
                retracted: isNew.retracted ? retracted : nil)
        }
        later.set(due?.microseconds)
    }

    /// The peers that are introduced: those that have been linked as such, so that it is certain that there are such devices.
    private var ours: [Introduction] {
        let now = MainLoop.wallClock
        return state.trust.devices.compactMap { device in
            guard let entry = state.trust[device], entry.isMutual else { return nil }
            return Introduction(
                device, name: entry.name, type: entry.type,
                places: owner.linkedPlaces(of: device)
                    + entry.places(at: now).compactMap { KnockDestination($0) })
        }
    }

    // MARK: Hearing

    /// The peer `introducer` has these other peers.
    /// - Throws: `LimitsExceeded` if it has said so just before.
    func introduced(_ list: [Introduction], by introducer: DeviceID, over link: Int) throws(HandoffFailure) {
        try count(\.introduce, introducer, link)
        let others = list.filter { $0.device != state.ownID && $0.device != introducer }
        // It is a peer of theirs again, and what the user has kept may be unpaired there anew.
        for device in others.map(\.device)
        where state.trust[device]?.keptDespite.contains(introducer) == true {
            state.trust.note(device) { $0.keptDespite.remove(introducer) }
        }
        for device in book.introduce(others, by: introducer) { changed(device) }
    }

    /// The user of the peer `introducer` has unpaired these devices.
    /// - Throws: `LimitsExceeded` if it has said so just before.
    func retracted(_ devices: [DeviceID], by introducer: DeviceID, over link: Int) throws(HandoffFailure) {
        try count(\.retract, introducer, link)
        let all = Set(devices).subtracting([introducer])
        for device in book.retract(all, by: introducer) { owner.deviceChanged(device) }
    }

    private func count(
        _ rate: WritableKeyPath<Rates, EventRate>, _ device: DeviceID, _ link: Int
    ) throws(HandoffFailure) {
        let new = EventRate(limit: 1, period: interval / 2)
        var counted =
            rates[device].flatMap { $0.link == link ? $0 : nil }
            ?? Rates(link: link, introduce: new, retract: new)
        let isAllowed = counted[keyPath: rate].count(at: .now)
        rates[device] = counted
        guard isAllowed else {
            throw HandoffFailure(
                .limitsExceeded, "This comes too often. Wait \(interval / 2) before it is said again.")
        }
    }

    /// A link with `device` has ended, and what was said over it counts no longer.
    func linkEnded(_ device: DeviceID, _ link: Int) {
        if told[device]?.link == link { told[device] = nil }
        if rates[device]?.link == link { forget(device) }
    }

    /// `device` is no peer any more, or what it has said counts no longer.
    func forget(_ device: DeviceID) {
        (told[device], rates[device], calls[device]) = (nil, nil, nil)
        for device in book.forget(device) { changed(device) }
    }

    /// The user wants introductions, or wants none any more.
    func choiceChanged() {
        for device in book.devices { changed(device) }
        update()
    }

    private func changed(_ device: DeviceID) {
        owner.deviceChanged(device)
        guard state.trust[device]?.awaitsAcceptance == true else {
            calls[device] = nil
            return
        }
        // What is said again and again is dialled as all others are.
        var rate = calls[device] ?? EventRate(limit: Self.maximumCalls, period: .seconds(60))
        if rate.count(at: .now) { owner.dialNow(device) }
        calls[device] = rate
    }

    // MARK: The user

    /// What the user is shown of `device`.
    func shown(_ device: DeviceID) -> Shown {
        let known = state.trust[device]
        let isAccepted = known?.awaitsAcceptance == true
        guard owner.introduces || isAccepted else { return Shown() }
        // Of most devices nobody says anything.
        let peers = book.concerns(device) ? state.trust.devices : []
        var shown = Shown()
        if owner.introduces {
            shown.retractors = book.retractors(of: device, among: peers).filter {
                known?.keptDespite.contains($0) == false
            }
        }
        guard known == nil || isAccepted else { return shown }
        let found = book.introductions(of: device, by: peers)
        let places = LinkHello.places(found.flatMap(\.said.places).map(\.bytes))
        shown.addresses = places.compactMap(\.address)
        if owner.introduces {
            shown.introducers = found.map(\.introducer)
            (shown.name, shown.type) = (found.first?.said.name ?? "", found.first?.said.type ?? "")
        }
        if isAccepted {
            shown.state = .accepted
        } else if !found.isEmpty {
            shown.state = state.trust.isDeclined(device) ? .declined : .offered
        }
        return shown
    }

    /// Pairs with `device`, which is introduced, as far as it is for this device to say.
    func accept(_ device: DeviceID) throws {
        guard !state.isTrusted(device) else { return }
        let shown = try introduction(of: device)
        var entry = TrustEntry(
            device, name: shown.name, type: shown.type, source: .introduction, awaitsLink: true)
        // Those who introduce it may be away when its own user accepts this device.
        entry.remember(places: shown.addresses.compactMap { KnockDestination($0) }, at: MainLoop.wallClock)
        try state.trust.put(entry)
        let who = shown.introducers.map(state.label(of:)).joined(separator: ", ")
        bridgeLog.message("\(state.label(of: device)) is trusted from now on, since \(who) introduces it.")
        owner.trustBegan(device)
    }

    /// Does not ask about `device`, which is introduced, any more.
    func decline(_ device: DeviceID) throws {
        guard try introduction(of: device).state == .offered else { return }
        try state.trust.decline(device)
        bridgeLog.message("\(state.label(of: device)), which is introduced, was declined.")
        owner.deviceChanged(device)
    }

    private func introduction(of device: DeviceID) throws(HandoffFailure) -> Shown {
        let shown = shown(device)
        guard shown.state == .offered || shown.state == .declined else {
            throw HandoffFailure(
                .unknownObject,
                "No peer introduces \(state.label(of: device)) any more. Wait until one does, or pair with it by digits."
            )
        }
        return shown
    }

    /// Keeps the peer `device`, though others have unpaired it.
    func keep(_ device: DeviceID) throws {
        guard var entry = state.trust[device] else { throw Peer.notPaired(state.label(of: device)) }
        let retractors = shown(device).retractors
        guard !retractors.isEmpty else { return }
        entry.keptDespite.formUnion(retractors)
        try state.trust.put(entry)
        owner.deviceChanged(device)
    }
}
