// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop

/// What viewers and the file manager show: the window in front is the current activity, and what other devices showed is opened
/// here.
@MainLoop
final class Documents {
    private let service: AdapterService
    private let team: Team
    private let own: ApplicationID
    private let activities: DocumentActivities
    private let viewers: [any DocumentViewer]
    private let sources: [any WindowSource]
    private let opener: DocumentOpener
    private var order = WindowOrder()
    private var applications: [ApplicationID: AdaptedApplication] = [:]
    /// What each window was found to show, when it was in front last.
    private var offered: [ViewerWindow: ShownPlace] = [:]
    /// The applications that have learnt Handoff.
    private var independent: Set<ApplicationID> = []
    /// What continues here.
    private var catcher: AdaptedApplication?
    private lazy var refresher = Refresher { [weak self] in await self?.look() }
    private lazy var again = DeadlineTimer { [weak self] in self?.refresher.refresh() }
    /// How often each window was asked that has begun and shows nothing yet.
    private var attempts: [ViewerWindow: Int] = [:]
    private lazy var idle = DeadlineTimer { [weak self] in self?.service.finish("no viewer runs.") }
    /// Until when nobody need be there.
    private var grace: Int64 = 0

    /// How long it is there without any viewer when the bus has started it, since something may be about to be continued or
    /// a viewer to begin, and when the last viewer has ended.
    private static let (patience, afterLast): (Int64, Int64) = (60_000_000, 1_000_000)

    /// When a window is asked again that shows nothing yet, in microseconds: viewers are on the bus before they have loaded
    /// anything, and some do not say when they have. After that it is asked when it comes to the front.
    private static let laterLooks: [Int64] = [150_000, 300_000, 600_000, 1_200_000, 2_400_000]

    /// The windows of the session that `service` is in.
    init(_ service: AdapterService) throws {
        self.service = service
        let looks = FileLooks()
        own = try ApplicationID(HandoffNames.documentsAdapter.text)
        team = try Team(DocumentsAdapter.team)
        activities = try DocumentActivities(looks)
        viewers = [
            PageViewer(service.bus, try ApplicationID("org.kde.okular"), Okular()),
            Evince(service.bus, try ApplicationID("org.gnome.Evince"), looks),
            PageViewer(service.bus, try ApplicationID("org.pwmt.zathura"), Zathura()),
        ]
        sources = viewers + [Nautilus(service.bus, try ApplicationID("org.gnome.Nautilus"))]
        opener = DocumentOpener(service, viewers, looks)
    }

    /// Begins to follow the windows, and to continue.
    func begin() {
        for source in sources {
            source.onChange = { [weak self] in self?.changed($0) }
            source.onGone = { [weak self] in self?.gone($0) }
            source.onPresenceChange = { [weak self] in self?.watchIdleness() }
        }
        service.onFrontChange = { [weak self] in self?.refresher.refresh() }
        service.onChoicesChange = { [weak self] in self?.choose() }
        let catcher = AdaptedApplication(own, types: activities.types, team: team, receives: true)
        catcher.onContinue = { [weak self] handed in
            guard let self else { return false }
            return try await opener.open(handed, among: order.windows)
        }
        catcher.onContinuingChange = { [weak self] in self?.stayAwhile() }
        self.catcher = catcher
        stayAwhile()
    }

    // MARK: Windows

    /// The user has chosen which applications are left alone, and which folders are shared.
    private func choose() {
        for source in sources {
            if service.isExcluded(source.id) || independent.contains(source.id) {
                source.end()
                order.forget(source.id)
                attempts = attempts.filter { $0.key.application != source.id }
                forget(source.id)
            } else {
                source.begin()
            }
        }
        // What other windows show is not looked at until they are in front.
        for (window, place) in offered {
            guard case .folder(let path) = place else { continue }
            if service.sharedFolders.item(at: Array(path.text.utf8)) == nil { close(window) }
        }
        watchIdleness()
        refresher.refresh()
    }

    private func changed(_ window: ViewerWindow) {
        order.changed(window)
        attempts[window] = 0
        grace = 0
        watchIdleness()
        refresher.refresh()
    }

    private func gone(_ window: ViewerWindow) {
        order.gone(window)
        attempts[window] = nil
        close(window)
        if !order.holds(window.application) { forget(window.application) }
        watchIdleness()
        refresher.refresh()
    }

    private func forget(_ application: ApplicationID) {
        offered = offered.filter { $0.key.application != application }
        applications.removeValue(forKey: application)?.end()
    }

    private func look() async {
        let window = order.inFront(service.front)
        for (id, application) in applications where id != window?.application { application.leave() }
        guard let window, let source = sources.first(where: { $0.id == window.application }) else { return }
        let place = await source.shown(in: window)
        var activity: ShownActivity?
        if let place {
            activity = await activities.activity(of: place, in: window, shared: service.sharedFolders)
        }
        // What was found out in the meantime comes next.
        guard order.inFront(service.front) == window else { return refresher.refresh() }
        guard let place, let activity else {
            showNothing(window)
            return place == nil ? lookAgain(at: window) : ()
        }
        attempts[window] = Self.laterLooks.count
        offered[window] = place
        application(window.application).show(activity)
    }

    private func lookAgain(at window: ViewerWindow) {
        guard let number = attempts[window], number < Self.laterLooks.count else { return }
        attempts[window] = number + 1
        again.set(MainLoop.now + Self.laterLooks[number])
    }

    /// `window` is in front, and shows nothing that can be continued.
    private func showNothing(_ window: ViewerWindow) {
        close(window)
        applications[window.application]?.leave()
    }

    /// What `window` has shown is over; what other windows show is not.
    private func close(_ window: ViewerWindow) {
        guard offered.removeValue(forKey: window) != nil, let application = applications[window.application]
        else { return }
        if application.shown?.window == window.key {
            application.showNothing()
        } else {
            application.close { $0.window != window.key }
        }
    }

    private func application(_ id: ApplicationID) -> AdaptedApplication {
        if let known = applications[id] { return known }
        let new = AdaptedApplication(id, types: activities.types, team: team, receives: false)
        new.onSave = { [weak self] in await self?.saved(id, $0) ?? [:] }
        new.onSteppedBack = { [weak self] in
            self?.independent.insert(id)
            self?.choose()
        }
        applications[id] = new
        return new
    }

    /// What has changed since, of what a window of the application `id` shows.
    private func saved(_ id: ApplicationID, _ activity: ShownActivity) async -> [String: Value] {
        let known = offered.first { $0.key.application == id && $0.key.key == activity.window }
        guard let (window, place) = known, let viewer = viewers.first(where: { $0.id == id }) else {
            return [:]
        }
        guard await viewer.shown(in: window) == place else {
            // Its page belongs to another document, which is offered next.
            refresher.refresh()
            return [:]
        }
        let page = await viewer.page(in: window, of: place.path)
        guard let page else { return [:] }
        return ["UserInfo": DocumentActivities.userInfo(id, page: page)]
    }

    // MARK: The end

    private func stayAwhile() {
        grace = MainLoop.now + Self.patience
        watchIdleness()
    }

    /// Nothing of this is needed where no application is there that it could stand for, and nothing is on its way here.
    private func watchIdleness() {
        let isIdle = !sources.contains { $0.isPresent } && catcher?.isContinuing != true
        idle.set(isIdle ? max(grace, MainLoop.now + Self.afterLast) : nil)
    }
}
