// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Applications to which sites have given their pages")
struct RegistrySitesTests {
    /// The application of the site, which is installed, of another team, and declares nothing.
    private func installed() throws -> InstalledApplication {
        InstalledApplication(
            try Example.application("shop"), team: try Team("org.other"), declaration: Declaration(),
            start: .program)
    }

    /// The same, which runs.
    private func registration(receives: Bool = true) throws -> Registration {
        Registration(
            connection: ":1.2", applicationID: try Example.application("shop"), team: try Team("org.other"),
            declaration: Declaration(), objectPath: "/", receives: receives)
    }

    @Test("an application to which a site has given its pages comes first for them, and gets the page alone")
    func claimants() throws {
        var registry = Registry()
        let (browser, shop) = (try Example.application("browser"), try Example.application("shop"))
        try registry.register(
            Registration(
                connection: ":1.1", applicationID: browser,
                declaration: Declaration(activityTypes: [.browsingWeb]), objectPath: "/"))
        let offer = Offer(
            id: try Example.activity(1), type: .browsingWeb, title: "", applicationID: browser,
            team: Team(browser), webpageHost: "example.com", revision: 1, since: 0)
        var choices = HandlerChoices()
        choices.browser = browser
        choices.claimants = [shop]
        #expect(registry.handlers(for: offer, with: choices) == [.application(browser)], "it is not there")
        _ = registry.setInstalled([try installed()])
        #expect(registry.handlers(for: offer, with: choices) == [.application(shop), .application(browser)])
        #expect(registry.getsPageAlone(shop, of: offer, with: choices))
        #expect(!registry.getsPageAlone(browser, of: offer, with: choices))
        choices.chosen = browser
        #expect(registry.handlers(for: offer, with: choices) == [.application(browser), .application(shop)])
        _ = registry.setInstalled([])
        try registry.register(registration(receives: false))
        #expect(registry.handlers(for: offer, with: choices) == [.application(browser)])
        try registry.register(registration())
        #expect(registry.handlers(for: offer, with: choices) == [.application(browser), .application(shop)])
        #expect(registry.connection(for: shop) == ":1.2")
    }

    @Test("an application that may continue an activity of the web anyway gets the whole of it")
    func claimantOfTheTeam() throws {
        var registry = Registry()
        let (browser, other) = (try Example.application("browser"), try Example.application("other"))
        let offer = Offer(
            id: try Example.activity(1), type: .browsingWeb, title: "", applicationID: other,
            team: try Example.team(), webpageHost: "example.com", revision: 1, since: 0)
        try registry.register(
            Registration(
                connection: ":1.1", applicationID: browser, team: try Example.team(),
                declaration: Declaration(activityTypes: [.browsingWeb]), objectPath: "/"))
        var choices = HandlerChoices()
        choices.claimants = [browser]
        #expect(registry.handlers(for: offer, with: choices) == [.application(browser)])
        #expect(!registry.getsPageAlone(browser, of: offer, with: choices))
        #expect(!registry.getsPageAlone(other, of: try Example.offer(), with: choices))
    }

    @Test(
        "the default browser of another team that is handed pages comes after the team, though it alone runs")
    func browserAfterTeam() throws {
        var registry = Registry()
        let (browser, reader) = (try Example.application("browser"), try Example.application("reader"))
        let pages = Declaration(activityTypes: [.browsingWeb])
        try registry.register(
            Registration(connection: ":1.1", applicationID: browser, declaration: pages, objectPath: "/"))
        _ = registry.setInstalled([
            InstalledApplication(reader, team: try Example.team(), declaration: pages, start: .bus)
        ])
        var choices = HandlerChoices()
        choices.browser = browser
        for (origin, order) in [
            (try Example.application("other"), [reader, browser]), (browser, [browser, reader]),
        ] {
            let offer = Offer(
                id: try Example.activity(1), type: .browsingWeb, title: "", applicationID: origin,
                team: try Example.team(), webpageHost: "example.com", revision: 1, since: 0)
            #expect(registry.handlers(for: offer, with: choices) == order.map { .application($0) })
        }
    }
}
