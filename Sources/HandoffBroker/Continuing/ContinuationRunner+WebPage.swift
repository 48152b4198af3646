// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession

extension ContinuationRunner {
    /// Opens the activity's web page in the user's browser.
    func openWebPage() async {
        do {
            guard case .string(let url)? = activity["WebpageURL"] else {
                throw HandoffFailure(
                    .offerWithdrawn, "The activity has no web page any more. Choose from what is offered now."
                )
            }
            // It was checked when it came; nothing else is ever to reach a browser's command line.
            try ActivityURL.checkWeb(url, "WebpageURL")
            var browser = applicationID
            if browser == nil { browser = try await owner.applications.defaults.knownBrowser() }
            guard let browser else { throw HandoffFailure.noBrowser }
            try checkExcluded(browser)
            try await owner.tools.starter.open(
                ActivityURL.plain(url), with: browser, activationToken: activationToken)
            openedWith = browser
            perform(machine.opened(at: owner.tools.clock.instant))
        } catch {
            perform(machine.openFailed(HandoffFailure(routed: error)))
        }
    }

    /// What the application is handed of an activity that was fetched.
    func handed(_ activity: [String: Value]) -> [String: Value] {
        guard machine.getsPageAlone else { return activity }
        let shared: Set = ["ActivityType", "ApplicationId", "Title", "WebpageURL"]
        return activity.filter { shared.contains($0.key) }
    }

    /// The connections of `application` that this can be continued through, in the order in which they registered.
    func connections(of application: ApplicationID) -> [String] {
        owner.applications.registry.connections(
            for: application, continuing: machine.getsPageAlone ? nil : machine.offer)
    }

    /// The application that was to be handed the activity does not get it, although it is continued.
    func takeFromApplication() {
        owner.released(id)
    }
}

extension HandoffFailure {
    /// There is no browser for a web page.
    static var noBrowser: HandoffFailure {
        HandoffFailure(
            .noApplication,
            "There is no default web browser to open the page with. Install one, or choose one in the settings of your"
                + " desktop (xdg-settings set default-web-browser).")
    }
}
