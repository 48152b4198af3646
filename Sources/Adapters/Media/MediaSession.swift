// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import HandoffStarting
internal import MainLoop

/// What the adapter does in a session: it shows what plays, and continues here what others play.
@MainLoop
final class MediaSession {
    private let service: AdapterService
    private let type: ActivityType
    private let team: Team
    private let watch: PlayerWatch
    private let continuing: MediaContinuing
    private let files: OfferedFiles
    private let catcher: ApplicationID

    private var players = Players()
    private var shown: Players.Shown?
    /// The player that has gone on by itself from what was shown to something that is not to be offered.
    private var withheld: Players.Shown?
    /// The parts of those whose players are there.
    private var applications: [ApplicationID: AdaptedApplication] = [:]
    private var receiver: AdaptedApplication?
    private var isWatching = false
    private lazy var pauses = DeadlineTimer { [weak self] in self?.timePassed() }
    private lazy var end = DeadlineTimer { [weak self] in self?.endIfIdle() }

    /// Comes when it is known what the players play that were there before.
    private let settled = Awaited<Void>()
    /// How long a continuation waits for that.
    private static let settling = Duration.seconds(3)
    /// How long it waits for something to do.
    private static let patience = Duration.seconds(10)

    /// The session that `service` is in.
    /// - Throws: never, as long as the names in the source are valid.
    init(_ service: AdapterService) throws {
        self.service = service
        type = try ActivityType(MediaAdapter.type)
        team = try Team(MediaAdapter.team)
        catcher = try ApplicationID(HandoffNames.mediaAdapter.text)
        let looks = FileLooks()
        watch = PlayerWatch(service, looks)
        files = OfferedFiles(looks)
        continuing = MediaContinuing(service, watch, looks, files)
    }

    /// Begins, as soon as it is known what the user has chosen.
    func begin() async throws {
        service.onChoicesChange = { [weak self] in self?.choicesChanged() }
        service.onFrontChange = { [weak self] in self?.frontChanged() }
        watch.onReport = { [weak self] in self?.says($0, $1) }
        files.onKnown = { [weak self] in self?.watch.repeatReports() }
        watch.onGone = { [weak self] in self?.gone($0) }
        watch.onCount = { [weak self] in self?.countChanged() }
        continuing.onCount = { [weak self] in self?.countChanged() }
        let receiver = AdaptedApplication(catcher, types: [type], team: team, receives: true)
        receiver.onContinue = { [weak self] handed in
            guard let self else { return false }
            // Who is started to continue something does not know at first which players there are.
            _ = await settled.value(within: Self.settling)
            return try await continuing.begin(handed)
        }
        receiver.onContinuingChange = { [weak self] in self?.countChanged() }
        self.receiver = receiver
        countChanged()
    }

    private func choicesChanged() {
        files.receives(in: service.documentsFolder)
        if isWatching { return watch.lookAgain() }
        isWatching = true
        MainLoop.start { [weak self] in
            do {
                try await self?.watch.begin()
            } catch {
                self?.service.finish("the bus does not tell who is on it")
            }
        }
    }

    // MARK: The end

    private var isIdle: Bool { watch.isEmpty && receiver?.isContinuing != true && !continuing.isExpecting }

    private func countChanged() {
        if watch.isSettled { settled.come(()) }
        end.set(isIdle ? Instant.now.advanced(by: Self.patience).microseconds : nil)
    }

    private func endIfIdle() {
        if isIdle { service.finish("nothing plays, and nothing is to be continued.") }
    }

    // MARK: What plays

    private func says(_ player: PlayerObject, _ report: PlayerReport) {
        continuing.said(player, report)
        let offered = files.offered(report, player.application)
        let begins = players.says(offered, player.owner, of: player.application, at: .now)
        show(takingOver: begins)
    }

    private func gone(_ player: PlayerObject) {
        players.left(player.owner, at: .now)
        show(takingOver: false)
        if players.names(of: player.application).isEmpty {
            applications.removeValue(forKey: player.application)?.end()
        }
    }

    private func timePassed() {
        players.advance(to: .now)
        show(takingOver: false)
    }

    private func frontChanged() {
        if let shown, isInFront(shown.application) { show(takingOver: true) }
    }

    private func show(takingOver: Bool) {
        pauses.set(players.nextDeadline?.microseconds)
        let former = shown
        shown = players.shown
        endWithheld()
        defer { closeEnded() }
        guard shown != former || takingOver else { return }
        let wasCurrent = former.flatMap { applications[$0.application]?.isCurrent } ?? false
        if let former, former.application != shown?.application { leave(former) }
        guard let shown else { return }
        // What it plays now is not to be offered, and what it played before it plays no more.
        guard shown.report.address != nil else {
            applications[shown.application]?.showNothing()
            return
        }
        // What is shown in the place of what has ended is as current as that was.
        let isInstead = wasCurrent && former?.name != shown.name
        application(shown.application).show(
            ShownActivity(
                Self.identity(of: shown), in: shown.name.text, type: type,
                properties: HandedMedia.properties(of: shown.report, shown.application, position: nil)),
            takingOver: takingOver || isInstead || isInFront(shown.application))
    }

    private func isInFront(_ application: ApplicationID) -> Bool {
        if case .window(let window) = service.front { window.application == application } else { false }
    }

    private static func identity(of playing: Players.Shown) -> String {
        "\(playing.name) \(playing.report.address?.url ?? "")"
    }

    /// What plays or is paused that was shown as `activity`; nil if that is over.
    private func playing(_ activity: ShownActivity) -> Players.Shown? {
        players.open.first { Self.identity(of: $0) == activity.identity }
    }

    /// What was shown once, and is neither played nor paused any more, is over.
    private func closeEnded() {
        for (id, application) in applications {
            application.close { playing($0) != nil }
            guard id != shown?.application, id != withheld?.application else { continue }
            if let activity = application.shown, playing(activity) == nil { application.showNothing() }
        }
    }

    /// The application of `former` is shown no more.
    private func leave(_ former: Players.Shown) {
        let application = applications[former.application]
        if let activity = application?.shown, playing(activity) != nil {
            // It is open, until another one is current in its place or because it was paused long ago.
            if shown == nil { application?.leave() }
            return
        }
        guard shown == nil, playsOther(former) else {
            applications[former.application]?.showNothing()
            return
        }
        withheld = former
        applications[former.application]?.withhold()
    }

    /// Whether the player of `former` plays something else now, which is not to be offered.
    private func playsOther(_ former: Players.Shown) -> Bool {
        guard let report = players.report(of: former.name) else { return false }
        return report.status == .playing && report.address == nil
    }

    /// A player that has gone on to something that is not to be offered is waited for no longer than it plays that, and nothing
    /// else is shown.
    private func endWithheld() {
        guard let withheld, shown != nil || !playsOther(withheld) else { return }
        self.withheld = nil
        if shown?.application != withheld.application { applications[withheld.application]?.showNothing() }
    }

    private func application(_ id: ApplicationID) -> AdaptedApplication {
        if let application = applications[id] { return application }
        let application = AdaptedApplication(id, types: [type], team: team, receives: false)
        applications[id] = application
        application.onSave = { [weak self] in try await self?.save(id, $0) ?? [:] }
        application.onContinued = { [weak self] activity, _ in self?.continued(activity) }
        return application
    }

    // MARK: What is continued elsewhere

    /// What has changed since of what `application` has shown as `activity`: where it is.
    private func save(_ application: ApplicationID, _ activity: ShownActivity) async throws -> [String: Value]
    {
        guard let shown = playing(activity), let player = watch[shown.name] else { return [:] }
        // A station on the radio is nowhere.
        let isLive = if case .stream? = shown.report.address { shown.report.length == nil } else { false }
        let position = isLive ? nil : try await player.position()
        // Something else that it plays by now has not been offered.
        guard let report = player.report, report.address == shown.report.address else { return [:] }
        if case .file(_, let path)? = report.address, await !files.mayStillGoOn(path) {
            // The answer takes it back: whatever else the broker is told may come after what is fetched now.
            return ["DocumentURL": .string("")]
        }
        return HandedMedia.properties(of: report, application, position: position)
    }

    /// What was shown as `activity` is continued elsewhere: it pauses, if that is still what plays.
    private func continued(_ activity: ShownActivity) {
        guard let shown = playing(activity), let player = watch[shown.name] else { return }
        let address = shown.report.address
        MainLoop.start { [weak self] in
            guard let report = try? await player.read(), report.address == address else { return }
            if report.status == .playing { try? await player.pause() }
            guard let self else { return }
            players.handedOver(player.owner, at: .now)
            show(takingOver: false)
        }
    }
}
