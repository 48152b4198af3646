// SPDX-License-Identifier: LGPL-2.1-or-later

/// The applications that have registered, by connection, and those whose desktop entries say that they could.
package struct Registry: Sendable {
    /// One for each connection, in the order in which they registered.
    private var registrations: [Registration] = []
    /// Why registrations have ended that were not ended by their own connections.
    private var endings: [String: (applicationID: ApplicationID, reason: String)] = [:]
    /// The applications with desktop entries.
    package private(set) var installed: [ApplicationID: InstalledApplication] = [:]
    /// Those that the user keeps out: nothing is continued in them.
    package var excluded = ExcludedApplications() {
        didSet { excludedPackages = excluded.packages(installed) }
    }
    /// The adapters that the user has switched off: what their desktop entries declare is not started.
    package var disabledAdapters: Set<AdapterName> = []
    /// The packages that these are from, as far as their desktop entries say so.
    private(set) var excludedPackages: Set<SandboxPackage> = []

    /// No applications yet.
    package init() {}

    /// What `connection` registered; nil if it did not.
    package func registration(of connection: String) -> Registration? {
        registrations.first { $0.connection == connection }
    }

    /// What `connection` registered, or the failure `notRegistered`.
    package func requireRegistration(of connection: String) throws(HandoffFailure) -> Registration {
        guard let registration = registration(of: connection) else {
            throw .notRegistered(connection, ending: ending(of: connection))
        }
        return registration
    }

    /// What has become of the registration of `connection`, and what to do, for people to read; nil unless it
    /// was ended by somebody else and the connection has not registered since.
    package func ending(of connection: String) -> String? {
        endings[connection].map { "It was registered as \($0.applicationID). \($0.reason)" }
    }

    /// The registration of `connection`, which has been removed, was ended for this reason and not by the
    /// connection itself. The reason is remembered until the connection registers again or leaves the bus.
    package mutating func ended(_ connection: String, _ applicationID: ApplicationID, _ reason: String) {
        endings[connection] = (applicationID, reason)
    }

    /// `connection` has left the bus.
    package mutating func vanished(_ connection: String) { endings[connection] = nil }

    /// All registrations, the latest last.
    package var all: [Registration] { registrations }

    /// Takes in a registration, the latest now, in place of what the connection registered before, which is
    /// returned. Fails with `limitsExceeded` if it declares more types than allowed, and with `notSupported` if it is an
    /// adapter's and the application knows Handoff itself; what was registered then stays. See ``replacedAdapters`` for
    /// what has to end because of it.
    @discardableResult
    package mutating func register(_ registration: Registration) throws(HandoffFailure) -> Registration? {
        let count =
            registration.declaration.activityTypes.count + registration.declaration.documentTypes.count
        guard count <= Quota.types else {
            throw .tooMany(
                "activity and document types of one application (\(registration.applicationID) has \(count))",
                limit: Quota.types,
                advice: "Declare fewer, and tell kinds of activity apart by their UserInfo.")
        }
        if registration.isAdapter {
            try checkAdapter(of: registration.applicationID, from: registration.connection)
        }
        endings[registration.connection] = nil
        let former = remove(registration.connection)
        registrations.append(registration.joined(with: installed[registration.applicationID]))
        return former
    }

    /// Replaces the applications with desktop entries. Returns the connections whose registrations have
    /// changed because of that.
    package mutating func setInstalled(_ applications: [InstalledApplication]) -> [String] {
        installed = Dictionary(applications.map { ($0.applicationID, $0) }) { first, _ in first }
        excludedPackages = excluded.packages(installed)
        var changed: [String] = []
        for (index, registration) in registrations.enumerated() {
            let joined = registration.joined(with: installed[registration.applicationID])
            guard joined != registration else { continue }
            registrations[index] = joined
            changed.append(registration.connection)
        }
        return changed
    }

    /// The connection unregistered or left the bus. Returns what it had registered.
    @discardableResult
    package mutating func remove(_ connection: String) -> Registration? {
        guard let index = registrations.firstIndex(where: { $0.connection == connection }) else { return nil }
        return registrations.remove(at: index)
    }

    /// The type of an activity that `connection` creates as `text`. An empty text means the type that the
    /// connection declares for documents of type `documentType`, if any, or else the first type that it
    /// declares.
    ///
    /// Fails with `notRegistered`, `typeNotDeclared` or `invalidArguments`.
    package func activityType(
        _ text: String, documentType: String? = nil, for connection: String
    ) throws(HandoffFailure) -> ActivityType {
        let registration = try requireRegistration(of: connection)
        guard text.isEmpty else {
            let type = try ActivityType(text)
            guard registration.declares(type) else { throw Self.notDeclared(type, by: registration) }
            return type
        }
        if let documentType, let type = registration.declaration.documentTypes[documentType] { return type }
        guard let first = registration.declaration.types.first else {
            throw HandoffFailure(
                .typeNotDeclared,
                "\(registration.applicationID) declares no activity type. Declare one when registering, or in"
                    + " the desktop entry, as ActivityTypes of the group [org.example.Handoff.Application] or as"
                    + " X-Handoff-ActivityTypes.")
        }
        return first
    }

    /// The applications that can continue `offer`, best first: the one that the user has chosen; for a web page, those to
    /// which its site has given it; the one it comes from; those of its team that declare its type, first those that
    /// are registered, the latest first and adapters last, then those that can be started, by id; the user's browser if it
    /// declares that it is handed pages; adapters that can be started. Last come what only opens the web page, and what only
    /// opens the document.
    package func handlers(for offer: Offer, with choices: HandlerChoices = HandlerChoices()) -> [Handler] {
        handlers(for: offer, with: choices, excludedToo: false)
    }

    /// The same, with those that the user keeps out where they would be if they were not, if `excludedToo`.
    func handlers(for offer: Offer, with choices: HandlerChoices, excludedToo: Bool) -> [Handler] {
        func isWanted(_ id: ApplicationID) -> Bool { excludedToo || !isExcluded(id) }
        let able = applications(for: offer, defaultBrowser: choices.browser, excludedToo: excludedToo)
            .filter { choices.documentApplication != nil || canOpenDocument(of: offer, $0) }
        let claimants = choices.claimants.filter { isWanted($0) && canBegin($0, excludedToo: excludedToo) }
        let ids = claimants + able.filter { !claimants.contains($0) }
        var handlers = ids.map { Handler.application($0) }
        if offer.webpageHost != nil, let browser = choices.browser, isWanted(browser),
            !isSwitchedOff(browser), !ids.contains(browser)
        {
            handlers.append(.browser(browser))
        }
        if offer.documentType != nil, let opener = choices.documentApplication, isWanted(opener),
            !isSwitchedOff(opener), !handlers.contains(where: { $0.id == opener })
        {
            handlers.append(.documentApplication(opener))
        }
        guard let chosen = handlers.firstIndex(where: { $0.id == choices.chosen }) else { return handlers }
        handlers.insert(handlers.remove(at: chosen), at: 0)
        return handlers
    }

    /// Whether `application` continues `offer` only because the site of its web page has given it its pages, and not
    /// because of what it declares. Then it gets the address of that page, and nothing else.
    package func getsPageAlone(
        _ application: ApplicationID, of offer: Offer, with choices: HandlerChoices
    ) -> Bool {
        offer.type == .browsingWeb
            && !applications(for: offer, defaultBrowser: choices.browser).contains(application)
    }

    /// Whether `application` is running and takes what is continued, or can be started.
    private func canBegin(_ application: ApplicationID, excludedToo: Bool) -> Bool {
        start(application) != nil
            || receiving(excludedToo: excludedToo).contains { $0.applicationID == application }
    }

    /// The registrations of those who take what is continued: adapters, then the others, each in the order in which they
    /// registered.
    private func receiving(excludedToo: Bool) -> [Registration] {
        let able = registrations.filter { $0.receives && (excludedToo || !isExcluded($0)) }
        return able.filter(\.isAdapter) + able.filter { !$0.isAdapter }
    }

    /// Those of the handlers that are handed the activity because of what they declare, best first.
    private func applications(
        for offer: Offer, defaultBrowser: ApplicationID?, excludedToo: Bool = false
    ) -> [ApplicationID] {
        var ids: [ApplicationID] = []
        // The user's browser, which is handed the activity whatever its team, but comes after the team.
        var browser: [ApplicationID] = []
        // What is started to stand for others comes after all that know Handoff themselves.
        var adapters: [ApplicationID] = []
        for registration in receiving(excludedToo: excludedToo).reversed()
        where registration.declares(offer.type) {
            let id = registration.applicationID
            if registration.team == offer.team {
                if !ids.contains(id) { ids.append(id) }
            } else if offer.type == .browsingWeb, id == defaultBrowser {
                browser = [id]
            }
        }
        // What an application that is running says itself takes precedence over its desktop entry.
        let running = Set(receiving(excludedToo: true).map(\.applicationID))
        for id in installed.keys.sorted() where !running.contains(id) && (excludedToo || !isExcluded(id)) {
            guard let entry = installed[id], start(id) != nil else { continue }
            if entry.continues(offer) {
                if entry.adapter == nil { ids.append(id) } else { adapters.append(id) }
            } else if offer.type == .browsingWeb, id == defaultBrowser,
                entry.declaration.types.contains(offer.type)
            {
                browser = [id]
            }
        }
        ids += browser.filter { !ids.contains($0) } + adapters
        guard let index = ids.firstIndex(of: offer.applicationID) else { return ids }
        ids.insert(ids.remove(at: index), at: 0)
        return ids
    }

    /// The latest connection that registered as `application` and receives what is continued, of those that can continue
    /// `offer`, if one is given; nil if there is none, or if the user keeps it out.
    package func connection(for application: ApplicationID, continuing offer: Offer? = nil) -> String? {
        connections(for: application, continuing: offer).last
    }

    /// All such connections, in the order in which they registered; those that are of the offer's team alone, if any is.
    package func connections(for application: ApplicationID, continuing offer: Offer? = nil) -> [String] {
        let mine = receiving(excludedToo: false).filter { $0.applicationID == application }
        guard let offer else { return mine.map(\.connection) }
        let able = mine.filter { $0.declares(offer.type) }
        let ofTeam = able.filter { $0.team == offer.team }
        return (ofTeam.isEmpty && offer.type == .browsingWeb ? able : ofTeam).map(\.connection)
    }

    private static func notDeclared(_ type: ActivityType, by registration: Registration) -> HandoffFailure {
        let declared = registration.declaration.types
        let list = declared.prefix(16).map(\.description).joined(separator: ", ")
        let rest = declared.count > 16 ? " and \(declared.count - 16) more" : ""
        return HandoffFailure(
            .typeNotDeclared,
            "\(registration.applicationID) does not declare the activity type \(type). "
                + (declared.isEmpty ? "It declares none. " : "It declares \(list)\(rest). ")
                + "Use one of those, or declare this one too.")
    }
}
