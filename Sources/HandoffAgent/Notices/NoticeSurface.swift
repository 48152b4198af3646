// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import HandoffStatus
internal import MainLoop
internal import Platform

// This file is long because each kind of notification begins and ends here.

/// The notifications: what state machines say is to be shown is put on a board, and what the user presses there is done.
@MainLoop
final class NoticeSurface: Surface {
    private let bus: Bus
    private let feed: StatusFeed
    private let actions: UserActions
    private let gate: LockGate
    private let board: NoticeBoard
    private var arrival = Arrival()
    private var invited = InvitedNotices()
    private var pairing = PairingNotices()
    private var introductions = IntroductionNotices()
    private var continued = ContinuedNotices()
    private var continuedAll = ContinuedAllNotices()
    private var progress = ProgressNotices()
    private var arrivedSends = ArrivedSends()
    private var pastes = PasteNotices()
    /// What is told once, as long as the user has not put it away, and it is not done.
    private var told: [NoticeSlot: Notice] = [:]
    /// Who has unpaired which peer, as far as the user was told: the ids of both.
    private var retractions: Set<[String]> = []
    /// The ids of the devices of which the user was told that they have ended the pairing.
    private var unpaired: Set<String> = []
    /// When the user was told last of what a peer has unpaired, by its id.
    private var retracting: [String: Instant] = [:]
    private let welcome = Welcome()
    private var token: SignalToken?
    private var windowWatches: [OwnerWatch] = []
    /// What was said last in the log of which offers there are.
    private var offered: [String] = []
    private var isBrokerKnown = false
    private lazy var timer = DeadlineTimer { [weak self] in self?.timePassed() }

    /// Shows on `board` what `feed` says, while `gate` is open.
    init(_ bus: Bus, _ feed: StatusFeed, _ actions: UserActions, _ gate: LockGate, _ board: NoticeBoard) {
        self.bus = bus
        self.feed = feed
        self.actions = actions
        self.gate = gate
        self.board = board
    }

    func begin() {
        token = bus.connection.onSignal(ManagerProxy.interface, "ActivityContinued") { [weak self] in
            self?.activityContinued($0)
        }
        actions.onContinuing = { [weak self] in self?.continuing($0) }
        actions.onOutcome = { [weak self] in self?.ended($0, $1, $2) }
        actions.onWindowFailure = { [weak self] in self?.windowFailed($0) }
        actions.onSent = { [weak self] in self?.sent($0, $1) }
        actions.onPasted = { [weak self] in self?.pasting($0, $1) }
        windowWatches = WindowView.allCases.map { view in
            OwnerWatch(bus, view.name, log: agentLog) { [board] in board.set(view, isSeen: $0 != nil) }
        }
        board.onPress = { [weak self] in self?.pressed($0, $1, $2) }
        board.onClose = { [weak self] in self?.closed($0) }
    }

    func update(_ report: StatusReport) {
        let offers = (report.broker.content?.offers ?? []).map { ShownOffer($0) }
        let ids = offers.map(\.path)
        if ids != offered || isBrokerKnown != (report.broker.content != nil) {
            (offered, isBrokerKnown) = (ids, report.broker.content != nil)
            agentLog.debug(
                isBrokerKnown
                    ? "The broker is known; it offers \(ids.joined(separator: ", "))" : "There is no broker.")
        }
        let known = report.bridge.content?.devices
        let devices = (known ?? []).compactMap { PairingNotices.Device($0) }
        tellArrived(known)
        tellRetracted(known)
        tellUnpaired(report.bridge.content)
        let setting = report.broker.content?.preferences.text("NotifyOffers")
        perform(arrival.update(offers, setting.flatMap { .init(rawValue: $0) } ?? .arrival, at: .now))
        perform(invited.update(offers, at: .now))
        perform(pairing.update(devices, at: .now))
        perform(introductions.update(IntroductionNotices.Introduction.all(among: known ?? []), at: .now))
        let runs = report.broker.content?.continuing
        perform(continuedAll.update(runs?.map { ContinuedAllNotices.Run($0) }))
        perform(progress.update(offers, at: .now))
        if let senders = Self.senders(report) { perform(pastes.update(senders)) }
        schedule()
        greet(report)
        if told[.welcome] != nil, !report.peers.isEmpty { tell(nil, in: .welcome) }
    }

    /// Tells what of what was sent to devices that were away has been shown there; nil as long as nobody knows.
    private func tellArrived(_ devices: [KnownDevice]?) {
        guard let devices else { return }
        let items = devices.flatMap(\.waiting)
        let arrived = arrivedSends.update(
            items.map { ArrivedSends.Item(id: $0.id, hasArrived: $0.arrived != 0) })
        for device in devices {
            for item in device.waiting where arrived.contains(item.id) {
                tell(.arrived(item, at: device), in: .arrived(item.id))
            }
        }
    }

    /// Asks about the peers that others have unpaired, once, and at most once in ten minutes for each of these others; nil as long
    /// as nobody knows of any.
    private func tellRetracted(_ devices: [KnownDevice]?) {
        guard let devices else { return }
        for peer in devices {
            let slot = NoticeSlot.retracted(by: peer.id)
            let retracted = devices.filter { $0.isPaired && $0.retractedBy.contains(peer.id) }
            if retracted.isEmpty, told[slot] != nil { tell(nil, in: slot) }
            let isNew = retracted.contains { !retractions.contains([$0.id, peer.id]) }
            let allowed = retracting[peer.id]?.advanced(by: IntroductionNotices.pace) ?? .now
            guard isNew, allowed <= .now else { continue }
            retractions.formUnion(retracted.map { [$0.id, peer.id] })
            retracting[peer.id] = .now
            tell(.retracted(retracted, by: peer), in: slot)
        }
    }

    /// Tells, once for each, who has ended the pairing with this device, and nothing of who is paired again; nil as long as nobody
    /// knows.
    private func tellUnpaired(_ bridge: BridgeStatus?) {
        guard let bridge else { return }
        let ids = Set(bridge.endedPairings.map(\.id))
        for id in unpaired.subtracting(ids) where told[.unpaired(by: id)] != nil {
            tell(nil, in: .unpaired(by: id))
        }
        let new = bridge.endedPairings.filter { !unpaired.contains($0.id) }
        unpaired = ids
        for device in new { tell(.unpaired(by: device), in: .unpaired(by: device.id)) }
    }

    /// Who may ask whether to copy something; nil as long as nobody knows.
    private static func senders(_ report: StatusReport) -> Set<String>? {
        guard let broker = report.broker.content, report.bridge.content != nil else { return nil }
        return broker.isPasting ? Set(report.peers.filter { !$0.isMuted }.map(\.id)) : []
    }

    private func greet(_ report: StatusReport) {
        guard gate.isOpen else { return }
        welcome.update(report) { [weak self] in self?.tell(.welcome, in: .welcome) }
    }

    // MARK: Events

    /// The user has come back or gone. The gate is open or closed already.
    func presenceChanged(_ event: Presence.Event) {
        switch event {
        case .locked:
            perform(arrival.locked())
            perform(invited.locked(isKnown: board.tellsOfClosing))
            perform(pairing.locked())
            perform(introductions.locked(isKnown: board.tellsOfClosing))
            perform(continued.locked())
            perform(continuedAll.locked())
            perform(progress.locked(isKnown: board.tellsOfClosing))
            perform(pastes.locked(isKnown: board.tellsOfClosing))
            for slot in [.window, .pasting] + told.keys { board.withdraw(slot) }
        case .unlocked:
            arrival.unlocked()
            continued.unlocked()
            continuedAll.unlocked()
            perform(invited.unlocked(at: .now))
            perform(pairing.unlocked(at: .now))
            perform(introductions.unlocked(at: .now))
            perform(progress.unlocked(at: .now))
            perform(pastes.unlocked(at: .now))
            for notice in told.values { show(notice) }
            greet(feed.report)
        case .arrived(let hasJustWokenUp):
            perform(arrival.arrived(hasJustWokenUp: hasJustWokenUp, at: .now))
        }
        schedule()
    }

    private func activityContinued(_ signal: Message) {
        guard let broker = feed.broker, signal.sender == broker.name else { return }
        var reader = MessageReader(signal)
        guard let about: [String: Value] = try? reader.read() else { return }
        let preference = feed.report.broker.content?.preferences["NotifyContinued"]
        let one = ContinuedNotices.Continued(
            deviceID: about.text("DeviceId"), deviceName: about.text("DeviceName"),
            applicationID: about.text("ApplicationId"), title: about.text("Title"))
        perform(continued.continued(one, isWanted: preference != .boolean(false), at: .now))
        schedule()
    }

    private func continuing(_ offer: RemoteOffer) {
        perform(progress.began(ShownOffer(offer), at: .now))
        schedule()
    }

    private func ended(_ offer: RemoteOffer, _ failure: UserActions.Failure?, _ note: String) {
        // What the user has cancelled needs no explanation.
        let shown = failure.flatMap { failure in
            failure.code == .cancelled
                ? nil
                : ProgressNotices.Failure(
                    offer: ShownOffer(offer), message: failure.text.summary, detail: failure.text.detail,
                    canTryAgain: failure.canTryAgain)
        }
        perform(progress.finished(path: offer.path.text, shown))
        if !note.isEmpty { tell(.versions(of: ShownOffer(offer), note), in: .versions) }
        schedule()
    }

    private func sent(_ device: ChosenText, _ failure: FailureText?) {
        tell(failure.map { .notSent(to: device, $0) }, in: .sending)
    }

    private func pasting(_ device: KnownDevice, _ failure: FailureText?) {
        if let failure { pasteFailed(failure, from: device.id) } else { tell(nil, in: .pasting) }
    }

    /// This was put into the clipboard, as the user has wanted, from the device `deviceID`.
    func pasted(_ summary: ClipboardSummary, from deviceID: String) {
        tell(nil, in: .pasting)
        // What is to be seen in the clipboard is not told again after the session was locked.
        show(.pasted(summary, from: label(of: deviceID)))
        perform(pastes.pasted(deviceID))
        schedule()
    }

    /// What is in the clipboard of the device `deviceID` was not pasted here, for this reason.
    func pasteFailed(_ failure: FailureText, from deviceID: String) {
        tell(.notPasted(from: label(of: deviceID), failure), in: .pasting)
    }

    /// The user of the device `deviceID`, which is not muted, has sent something of these kinds to be copied.
    func asked(_ kinds: [ClipboardKind], by deviceID: String) {
        perform(pastes.asked(PasteNotices.Sent(deviceID: deviceID, kinds: kinds), at: .now))
        schedule()
    }

    /// What to call the device with this id.
    private func label(of deviceID: String) -> ChosenText {
        let device = feed.report.bridge.content?.devices.first { $0.id == deviceID }
        return device?.label ?? .device(name: "", id: deviceID)
    }

    /// Tells the user once, in the place of what was told there before; nil for nothing.
    private func tell(_ notice: Notice?, in slot: NoticeSlot) {
        told[slot] = notice
        board.withdraw(slot)
        show(notice)
    }

    private func windowFailed(_ reason: String) { show(.noWindow(reason)) }

    private func timePassed() {
        let now = Instant.now
        perform(arrival.advance(to: now))
        perform(invited.advance(to: now))
        perform(pairing.advance(to: now))
        perform(introductions.advance(to: now))
        perform(continued.advance(to: now))
        perform(progress.advance(to: now))
        perform(pastes.advance(to: now))
        schedule()
    }

    private func schedule() {
        let times = [
            arrival.nextTime, invited.nextTime, pairing.nextTime, introductions.nextTime, continued.nextTime,
            progress.nextTime, pastes.nextTime,
        ]
        timer.set(times.compactMap { $0?.microseconds }.min())
    }

    // MARK: The user

    private func pressed(_ slot: NoticeSlot, _ press: NoticePress, _ token: String) {
        closed(slot)
        gate.pass("done") { _ in perform(press, token) }
    }

    private func perform(_ press: NoticePress, _ token: String) {
        switch press {
        case .continueOffer(let path): actions.continueOffer(at: path, in: nil, token: token)
        case .cancelOffer(let path): actions.cancelOffer(at: path)
        case .pair(let device): actions.pair(with: device)
        case .confirm(let device, let code, let matches):
            actions.confirmPairing(with: device, showing: code, matches: matches)
        case .acceptIntroduction(let device): actions.acceptIntroduction(of: device)
        case .declineIntroduction(let device): actions.declineIntroduction(of: device)
        case .unpair(let device): actions.unpair(device)
        case .keep(let device): actions.keep(device)
        case .paste(let device): actions.paste(from: device)
        case .openWindow: actions.openWindow(token: token)
        case .openEverything(let device): actions.openEverything(at: device, token: token)
        }
    }

    private func closed(_ slot: NoticeSlot) {
        switch slot {
        case .arrival: arrival.closed()
        case .invited(let device): invited.closed(deviceID: device)
        case .pairing(let device): pairing.closed(device)
        case .introduced(let peer): introductions.closed(peer)
        case .continued: continued.closed()
        case .continuedAll: continuedAll.closed()
        case .progress(let path): progress.closed(path: path.text)
        case .copying(let device): pastes.closed(device)
        case .sending, .pasting, .arrived, .versions, .welcome, .retracted, .unpaired: told[slot] = nil
        case .window: break
        }
        schedule()
    }

    // MARK: Performing

    private func perform(_ actions: [Arrival.Action]) {
        for action in actions {
            switch action {
            case .show(let offer): show(.question(offer, in: .arrival))
            case .withdraw: board.withdraw(.arrival)
            }
        }
    }

    private func perform(_ actions: [InvitedNotices.Action]) {
        for action in actions {
            switch action {
            case .show(let offer): show(.question(offer, in: .invited(offer.deviceID)))
            case .withdraw(let device): board.withdraw(.invited(device))
            }
        }
    }

    private func perform(_ actions: [PairingNotices.Action]) {
        for action in actions {
            switch action {
            case .ask(let device): show(.pairing(device))
            case .compare(let device): show(.comparing(device))
            case .withdraw(let id): board.withdraw(.pairing(id))
            }
        }
    }

    private func perform(_ actions: [IntroductionNotices.Action]) {
        for action in actions {
            switch action {
            case .show(let introduction): show(.introduced(introduction))
            case .withdraw(let peer): board.withdraw(.introduced(by: peer))
            }
        }
    }

    private func perform(_ actions: [ContinuedNotices.Action]) {
        for action in actions {
            switch action {
            case .show(let one): show(.continued(one))
            case .withdraw: board.withdraw(.continued)
            }
        }
    }

    private func perform(_ actions: [ContinuedAllNotices.Action]) {
        for action in actions {
            switch action {
            case .show(let run): show(.continuedAll(run))
            case .withdraw: board.withdraw(.continuedAll)
            }
        }
    }

    private func perform(_ actions: [ProgressNotices.Action]) {
        for action in actions {
            switch action {
            case .show(let offer): show(.progress(offer))
            case .fail(let failure): show(.failure(failure))
            case .withdraw(let path):
                if let path = try? ObjectPath(path) { board.withdraw(.progress(path)) }
            }
        }
    }

    private func perform(_ actions: [PasteNotices.Action]) {
        for action in actions {
            switch action {
            case .show(let sent): show(.copying(sent, from: label(of: sent.deviceID)))
            case .withdraw(let device): board.withdraw(.copying(device))
            }
        }
    }

    private func show(_ notice: Notice?) {
        if let notice, gate.isOpen { board.show(notice) }
    }
}

extension ShownOffer {
    /// An offer as the broker shows it.
    init(_ offer: RemoteOffer) {
        self.init(
            path: offer.path.text, deviceID: offer.deviceID, deviceName: offer.deviceName, title: offer.title,
            applicationID: offer.applicationID, handler: offer.handlers.first ?? "", since: offer.since,
            lastUsed: offer.lastUsed, isInvited: offer.isInvited, invitedAt: offer.invitedAt,
            parkedAt: offer.parkedAt, isContinuing: offer.state == "continuing",
            isShownByApplication: offer.isShownByApplication, progress: offer.progress)
    }
}

extension ContinuedAllNotices.Run {
    /// Several activities as the broker shows them.
    init(_ run: ContinueAllRun) {
        let failed = run.results.filter { $0.state == .failed }
        let first = failed.first { !$0.isCancelled }
        let shown = first ?? run.results.first
        self.init(
            id: run.path.text, total: run.total, done: run.done, isOver: run.isOver,
            isCancelled: failed.contains(where: \.isCancelled), deviceID: shown?.deviceID ?? "",
            deviceName: shown?.deviceName ?? "",
            failure: first.flatMap { Failure($0) })
    }
}

extension ContinuedAllNotices.Run.Failure {
    /// Why one of them has failed, as the broker shows it; nil if it has not.
    init?(_ result: ContinueAllRun.Result) {
        guard let failure = result.failure else { return nil }
        self.init(
            message: failure.summary, detail: failure.detail, title: result.title,
            applicationID: result.applicationID)
    }
}

extension PairingNotices.Device {
    /// A device as the bridge shows it; nil if its state is none that there is.
    init?(_ device: KnownDevice) {
        guard let stage = Pairing.Stage(rawValue: device.pairingState) else { return nil }
        self.init(
            id: device.id, name: device.name, stage: stage, isAsking: device.pairingAsked,
            code: device.pairingCode)
    }
}

extension IntroductionNotices.Introduction {
    /// What those among `devices` introduce that introduce others, as long as the user has not said anything about these.
    static func all(among devices: [KnownDevice]) -> [Self] {
        let offered = devices.filter(\.isIntroduced)
        return devices.compactMap { peer in
            let introduced = offered.filter { $0.introducedBy.contains(peer.id) }
            return introduced.isEmpty
                ? nil : Self(introducer: .init(peer), devices: introduced.map { .init($0) })
        }
    }
}

extension IntroductionNotices.Device {
    /// A device as the bridge shows it.
    fileprivate init(_ device: KnownDevice) { self.init(id: device.id, name: device.name) }
}

extension UserActions.Failure {
    /// Whether it may be over the next time.
    fileprivate var canTryAgain: Bool {
        switch code {
        case .connectionUnavailable, .applicationTimedOut, .applicationFailed, .limitsExceeded: true
        default: false
        }
    }
}
