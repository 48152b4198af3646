// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// Stands for one running browser: what its add-on says is in front is the activity, and what is continued here it is told to
/// open.
@MainLoop
final class BrowserHost {
    /// Whose activities a browser continues: those of all browsers.
    nonisolated static let team = HandoffNames.team("Browser")
    /// What `DisabledAdapters` calls the adapter.
    nonisolated static let name = "browser"
    /// How often the page in front may be another, in microseconds.
    private static let pause: Int64 = 100_000
    /// How long the add-on may take to read a page, which is less than the broker waits.
    private static let readingTime: Duration = .milliseconds(1500)
    /// How long it may take to open a tab.
    private static let openingTime: Duration = .seconds(15)

    private let bus: Bus
    private let browser: ApplicationID
    private let port: NativePort
    private let questions: AddOnQuestions
    private let feed: StatusFeed
    private var application: AdaptedApplication?
    private var standing: BrowserStanding?
    private var offers: JSONValue?
    private var hasAskedForPages = false
    private var pace = Pace<BrowserFront>(pause: pause)
    private var timer: DeadlineTimer?

    /// A host of `browser`, whose add-on is at `port`; `bus` is the session's.
    init(_ browser: ApplicationID, _ port: NativePort, on bus: Bus) {
        (self.browser, self.port, self.bus) = (browser, port, bus)
        questions = AddOnQuestions(port)
        feed = StatusFeed(on: bus, followsBridge: false)
        bus.connection.policy = BusAccessPolicy()
    }

    /// Begins to follow the broker. The add-on has been told nothing before.
    func begin() {
        timer = DeadlineTimer { [weak self] in self?.frontIsDue() }
        feed.onChange = { [weak self] in self?.changed() }
        feed.begin()
    }

    // MARK: What the broker says

    private func changed() {
        let standing = currentStanding
        if standing == .disabled || standing == .excluded {
            application?.end()
            application = nil
        } else if application == nil {
            // It is this that has the bus start a broker.
            application = makeApplication()
        }
        if standing != self.standing {
            self.standing = standing
            port.send(["message": "standing", "standing": .string(standing.rawValue)])
            if !standing.mayRead { application?.keepOpen(nil) }
        }
        tellOffers()
        guard standing == .ready, !hasAskedForPages else { return }
        hasAskedForPages = true
        MainLoop.start { [weak self] in await self?.tellPages() }
    }

    /// Tells where in the pages that the browser was started with their user was, if the adapter has started it.
    private func tellPages() async {
        guard let owner = try? await bus.identifiedOwner(of: HandoffNames.browserAdapter),
            owner.sandbox == nil,
            let name = owner.name
        else { return }
        let adapter = BrowserAdapterProxy(
            RemoteObject(bus.connection, name, HandoffNames.browserAdapterPath))
        let pages = (try? await adapter.takePages(applicationId: browser.description)) ?? []
        for page in pages.prefix(PendingPages.maximum) {
            let address = page.text("WebpageURL")
            guard WebPage.isOfferable(address) else { continue }
            port.send([
                "message": "place", "url": .string(address), "place": PagePlace(userInfo: page).json,
                "tabs": BrowsingWindow(userInfo: page)?.json ?? [],
            ])
        }
    }

    private var currentStanding: BrowserStanding {
        guard let broker = feed.report.broker.content else { return .absent }
        if broker.preferences.texts("DisabledAdapters").contains(Self.name) { return .disabled }
        if broker.preferences.texts("ExcludedApplications").contains(browser.description) { return .excluded }
        if application?.hasSteppedBack == true { return .replaced }
        return broker.isEnabled ? .ready : .off
    }

    private func tellOffers() {
        let all = standing == .ready ? feed.report.broker.content?.offers ?? [] : []
        let offers = JSONValue.array(all.filter { $0.concerns(browser) }.map(\.json))
        guard offers != self.offers else { return }
        self.offers = offers
        port.send(["message": "offers", "offers": offers])
    }

    private func makeApplication() -> AdaptedApplication? {
        guard let team = try? Team(Self.team) else { return nil }
        let application = AdaptedApplication(
            browser, types: [.browsingWeb, .browsingWindow], team: team, receives: true)
        application.onSave = { [weak self] in try await self?.save($0) ?? [:] }
        application.onContinue = { [weak self] in try await self?.open($0) ?? false }
        application.onSteppedBack = { [weak self] in self?.changed() }
        return application
    }

    // MARK: What the add-on says

    /// The add-on has sent `message`. One of a kind that is not known is from a newer add-on, and means nothing here.
    func received(_ message: JSONValue) {
        switch message["message"]?.text {
        case "front": show(pace.came(BrowserFront(message), at: MainLoop.now))
        case "window": keep(BrowsingWindow(message))
        case "answer": questions.answered(message)
        case "continue": continueOffer(message["offer"]?.text)
        default: break
        }
    }

    private func frontIsDue() { show(pace.due(at: MainLoop.now)) }

    private func show(_ front: BrowserFront?) {
        timer?.set(pace.deadline)
        guard let front, let application, standing?.mayRead == true else { return }
        guard let page = front.page else { return application.showNothing() }
        if front.hasFocus { application.show(page.activity) } else { application.leave() }
    }

    /// The tabs of the window that was in front last are open, beside the page in front.
    private func keep(_ window: BrowsingWindow?) {
        guard standing?.mayRead == true else { return }
        application?.keepOpen(window?.activity)
    }

    // MARK: What is continued elsewhere

    private func save(_ shown: ShownActivity) async throws -> [String: Value] {
        // Of a window all is told already.
        guard standing?.mayRead == true, shown.type == .browsingWeb,
            let address = shown.properties["WebpageURL"]?.string
        else { return [:] }
        let answer = await questions.answer(to: "save", ["url": .string(address)], within: Self.readingTime)
        // The user may be at another page by now, whose place is none in this one.
        guard let answer, let now = answer["url"]?.text, WebPage.isOfferable(now),
            WebPage.withoutFragment(now) == WebPage.withoutFragment(address)
        else { return [:] }
        return ["UserInfo": .properties(PagePlace(answer["place"]).userInfo)]
    }

    // MARK: What is continued here

    private func open(_ handed: HandedActivity) async throws -> Bool {
        let window = handed.window
        let address = window?.address ?? handed.webpage
        guard WebPage.isOfferable(address) else {
            throw HandoffFailure(
                .invalidURL,
                tr(
                    "{browser} opens only http and https pages without user info, and this is not one. Open "
                        + "it by hand.",
                    ["browser": browser.description]))
        }
        let page: [String: JSONValue] = [
            "url": .string(address), "place": PagePlace(userInfo: handed.userInfo).json,
        ]
        let answer = await questions.answer(
            to: window == nil ? "open" : "openWindow", window.map { ["tabs": $0.json] } ?? page,
            within: Self.openingTime)
        guard answer?["done"]?.boolean == true else {
            throw HandoffFailure(
                .applicationFailed,
                tr(
                    "{browser} did not open the page. See whether it still answers, and try again.",
                    ["browser": browser.description]))
        }
        return true
    }

    private func continueOffer(_ id: String?) {
        guard let id, let broker = feed.broker,
            let offer = feed.report.broker.content?.offers.first(where: { $0.path.text == id })
        else { return tellOutcome(id ?? "", FailureText(.offerWithdrawn, "")) }
        // Who asks in this browser wants it in this browser.
        let isOurs = offer.handlers.contains(browser.description)
        let options: [String: Value] = isOurs ? ["ApplicationId": .string(browser.description)] : [:]
        MainLoop.start { [weak self] in
            let failure = await Self.failure(of: ContinueCall(broker, offer), options)
            self?.tellOutcome(id, failure)
        }
    }

    private static func failure(of call: ContinueCall, _ options: [String: Value]) async -> FailureText? {
        do {
            let outcome = try await call.outcome(of: options)
            return outcome.isSuccess ? nil : FailureText(errorName: outcome.errorName, outcome.message)
        } catch is ContinueCall.Failure {
            return FailureText(.connectionUnavailable, "")
        } catch {
            return FailureText(DBusError.converting(error))
        }
    }

    private func tellOutcome(_ id: String, _ failure: FailureText?) {
        port.send([
            "message": "outcome", "offer": .string(id), "error": failure.map { .string($0.summary) } ?? .null,
        ])
    }
}
