// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop

/// What continues pages where no browser with the add-on runs: it has the default browser open them, and keeps the places in
/// them for its add-on.
@MainLoop
final class BrowserCatcher {
    private let service: AdapterService
    private let looks = FileLooks()
    private let starter: ProgramStarter
    private var application: AdaptedApplication?
    private var pages = PendingPages()
    private var rest: LoopSource?
    /// Who has taken pages, and is there.
    private var hosts: [BusName: NameWatch] = [:]

    /// How long it stays when there is nothing to do.
    private static let idle = Duration.seconds(20)
    /// How long a browser may take to start, and its add-on to ask, in microseconds.
    private static let patience: Int64 = 60_000_000
    /// How long a browser runs before that counts as success.
    private static let opening = Duration.milliseconds(500)

    /// What there is on the bus of `service`.
    init(_ service: AdapterService) {
        self.service = service
        starter = ProgramStarter(service.bus, looks, adapterLog)
        service.bus.connection.objects.export(
            HandoffNames.browserAdapterPath, [BrowserAdapterBinding(PagesObject(self))])
    }

    /// Registers, so that it is handed what is continued.
    func begin() throws {
        let id = try ApplicationID(HandoffNames.browserAdapter.text)
        let application = AdaptedApplication(
            id, types: [.browsingWeb, .browsingWindow], team: try Team(BrowserHost.team), receives: true)
        application.onContinue = { [weak self] in try await self?.continue($0) ?? false }
        application.onContinuingChange = { [weak self] in self?.restWhenIdle() }
        application.onSteppedBack = { [service] in service.finish("it is not needed.") }
        self.application = application
        restWhenIdle()
    }

    private func restWhenIdle() {
        guard application?.isContinuing != true else {
            rest = nil
            return
        }
        let wait = pages.remaining(at: MainLoop.now).map { Duration.microseconds($0) } ?? .zero
        rest = .timer(after: max(wait, Self.idle)) { [service] in service.finish("nothing is to be done.") }
    }

    private func `continue`(_ activity: HandedActivity) async throws -> Bool {
        let window = activity.window
        let address = window?.address ?? activity.webpage
        guard WebPage.isOfferable(address) else {
            throw HandoffFailure(
                .invalidURL,
                "Browsers open only http and https pages without user info, and this is not one. Open it by hand."
            )
        }
        let browser = try await looks.find(.starting) { try DefaultBrowser.find(for: address) }
        guard let browser else {
            throw HandoffFailure(
                .noApplication,
                "There is no default web browser to open the page with. Install one, or choose one in the settings of"
                    + " your desktop (xdg-settings set default-web-browser).")
        }
        if let name = browser.names.first(where: service.isExcluded) {
            throw HandoffFailure(
                .applicationFailed,
                "You keep Handoff out of \(name), which is the default web browser. Allow it in the settings of"
                    + " Handoff, or choose another browser.")
        }
        // The add-on may ask before it is known here that its browser has started.
        let place = PagePlace(userInfo: activity.userInfo)
        let page = pages.add(
            address, place, in: window, for: browser.names, until: MainLoop.now + Self.patience)
        do {
            try await start(browser, activity.activationToken)
        } catch {
            pages.remove(page)
            throw error
        }
        return true
    }

    private func start(_ browser: DefaultBrowser, _ token: String) async throws {
        let launch = Launch(
            browser.id, program: browser.program, arguments: browser.arguments, activationToken: token)
        try await starter.running(launch) { program in
            try await program.check(within: Self.opening, " instead of opening the page")
        }
    }

    private func ended(_ host: BusName) {
        hosts[host] = nil
        pages.ended(host.text)
        restWhenIdle()
    }

    fileprivate func take(_ browser: ApplicationID, by host: BusName) -> [[String: Value]] {
        let taken = pages.take(for: browser, by: host.text, at: MainLoop.now)
        if !taken.isEmpty {
            hosts[host] = service.bus.watch(host) { [weak self] in if $0 == nil { self?.ended(host) } }
        }
        restWhenIdle()
        return taken.map { page in
            page.place.userInfo.merging(page.window?.userInfo ?? [:]) { $1 }
                .merging(["WebpageURL": .string(page.address)]) { $1 }
        }
    }
}

/// What the hosts of browsers call.
@MainLoop
private final class PagesObject: BrowserAdapterServer {
    private unowned let catcher: BrowserCatcher

    init(_ catcher: BrowserCatcher) { self.catcher = catcher }

    func takePages(applicationId: String, _ call: MethodCall) throws -> [[String: Value]] {
        guard let host = call.caller.name else { return [] }
        return catcher.take(try ApplicationID(applicationId), by: host)
    }
}
