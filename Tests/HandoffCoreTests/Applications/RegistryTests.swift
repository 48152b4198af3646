// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Registered applications")
struct RegistryTests {
    private func registration(
        _ connection: String, _ application: String = "notes", team: String? = "com.example",
        types: [String] = ["edit", "view"], documents: [String: String] = [:], receives: Bool = true
    ) throws -> Registration {
        Registration(
            connection: connection, applicationID: try Example.application(application),
            team: try team.map { try Team($0) },
            declaration: Declaration(
                activityTypes: try types.map { try Example.type($0) },
                documentTypes: try documents.mapValues { try Example.type($0) }),
            objectPath: "/com/example", receives: receives)
    }

    @Test("registering again replaces the former registration")
    func replacement() throws {
        var registry = Registry()
        let first = try registration(":1.1")
        #expect(try registry.register(first) == nil)
        let second = try registration(":1.1", types: ["other"])
        #expect(try registry.register(second) == first)
        #expect(registry.registration(of: ":1.1") == second)
        #expect(registry.all == [second])
    }

    @Test("an application that leaves loses its registration")
    func removal() throws {
        var registry = Registry()
        try registry.register(try registration(":1.1"))
        #expect(registry.remove(":1.1") != nil)
        #expect(registry.remove(":1.1") == nil)
        #expect(code { _ = try registry.requireRegistration(of: ":1.1") } == .notRegistered)
    }

    @Test("two connections may be one application; the latest continues")
    func latest() throws {
        var registry = Registry()
        let notes = try Example.application()
        try registry.register(try registration(":1.1"))
        try registry.register(try registration(":1.2", types: ["view"]))
        #expect(registry.connection(for: notes) == ":1.2")
        #expect(registry.connection(for: notes, continuing: try Example.offer(type: "view")) == ":1.2")
        #expect(registry.connection(for: notes, continuing: try Example.offer(type: "edit")) == ":1.1")
        #expect(registry.connection(for: notes, continuing: try Example.offer(type: "none")) == nil)
        try registry.register(try registration(":1.1"))
        #expect(registry.connection(for: notes) == ":1.1")
        registry.remove(":1.1")
        #expect(registry.connection(for: notes) == ":1.2")
        #expect(registry.connection(for: try Example.application("other")) == nil)
        #expect(registry.handlers(for: try Example.offer(type: "view")) == [.application(notes)])
    }

    @Test("without a type an activity gets that of its document, else the first that is declared")
    func defaultType() throws {
        var registry = Registry()
        try registry.register(try registration(":1.1", documents: ["text/plain": "text"]))
        #expect(try registry.activityType("", for: ":1.1") == Example.type("edit"))
        #expect(
            try registry.activityType("", documentType: "text/plain", for: ":1.1") == Example.type("text"))
        #expect(try registry.activityType("", documentType: "text/html", for: ":1.1") == Example.type("edit"))
        try registry.register(try registration(":1.2", types: [], documents: ["text/plain": "text"]))
        #expect(try registry.activityType("", for: ":1.2") == Example.type("text"))
        try registry.register(try registration(":1.3", types: []))
        #expect(code { _ = try registry.activityType("", for: ":1.3") } == .typeNotDeclared)
    }

    @Test("an undeclared type is refused, naming the declared ones; those of documents are declared")
    func undeclared() throws {
        var registry = Registry()
        try registry.register(try registration(":1.1", documents: ["text/plain": "text"]))
        let failure = try #require(throws: HandoffFailure.self) {
            _ = try registry.activityType("com.example.notes.print", for: ":1.1")
        }
        #expect(failure.code == .typeNotDeclared)
        for text in ["notes.print", "notes.edit", "notes.view", "notes.text"] {
            #expect(failure.message.contains(text))
        }
        #expect(try registry.activityType("com.example.notes.text", for: ":1.1") == Example.type("text"))
        #expect(code { _ = try registry.activityType("a\nb", for: ":1.1") } == .invalidArguments)
        #expect(code { _ = try registry.activityType("", for: ":1.9") } == .notRegistered)
    }

    @Test("the application that an offer comes from is best, then the latest of its team; others are none")
    func handlers() throws {
        var registry = Registry()
        try registry.register(try registration(":1.1", "notes"))
        try registry.register(try registration(":1.2", "viewer", types: ["view"]))
        try registry.register(try registration(":1.3", "writer"))
        try registry.register(try registration(":1.4", "stranger", team: "com.other"))
        try registry.register(try registration(":1.5", "painter"))
        let names = ["notes", "painter", "writer"]
        #expect(
            registry.handlers(for: try Example.offer())
                == (try names.map { .application(try Example.application($0)) }))
        let fromElsewhere = try Example.offer(application: "absent")
        let order = ["painter", "writer", "notes"]
        #expect(
            registry.handlers(for: fromElsewhere)
                == (try order.map { .application(try Example.application($0)) }))
        #expect(registry.handlers(for: try Example.offer(type: "none")).isEmpty)
    }

    @Test("without a team an application is alone in its own")
    func defaultTeam() throws {
        var registry = Registry()
        try registry.register(try registration(":1.1", team: nil))
        #expect(registry.handlers(for: try Example.offer()).isEmpty)
        #expect(registry.handlers(for: try Example.offer(team: "com.example.notes")).count == 1)
    }

    @Test("browsing the web continues in the default browser, whatever its team, if it declares that")
    func browser() throws {
        var registry = Registry()
        let browser = try Example.application("browser")
        let declaration = Declaration(activityTypes: [.browsingWeb])
        try registry.register(
            Registration(
                connection: ":1.1", applicationID: browser, declaration: declaration, objectPath: "/"))
        let offer = Offer(
            id: try Example.activity(1), type: .browsingWeb, title: "",
            applicationID: try Example.application("other"),
            team: try Example.team(), webpageHost: "example.com", revision: 1, since: 0)
        #expect(registry.handlers(for: offer).isEmpty)
        var choices = HandlerChoices()
        choices.browser = browser
        #expect(registry.handlers(for: offer, with: choices) == [.application(browser)])
    }

    @Test(
        "what the user has chosen is best; the browser and what opens documents come last, each application once"
    )
    func choices() throws {
        var registry = Registry()
        try registry.register(try registration(":1.1", "notes"))
        try registry.register(try registration(":1.2", "writer"))
        let names = ["notes", "writer", "browser", "editor"]
        let ids = try names.map { try Example.application($0) }
        var choices = HandlerChoices()
        (choices.browser, choices.documentApplication) = (ids[2], ids[3])
        let plain = try Example.offer()
        #expect(registry.handlers(for: plain, with: choices).map(\.id) == [ids[0], ids[1]])
        let rich = Offer(
            id: plain.id, type: plain.type, title: "", applicationID: plain.applicationID, team: plain.team,
            webpageHost: "example.com", documentType: "text/plain", revision: 1, since: 0)
        #expect(
            registry.handlers(for: rich, with: choices) == [
                .application(ids[0]), .application(ids[1]), .browser(ids[2]), .documentApplication(ids[3]),
            ])
        for id in ids {
            choices.chosen = id
            let handlers = registry.handlers(for: rich, with: choices).map(\.id)
            #expect(handlers.first == id && Set(handlers) == Set(ids) && handlers.count == 4)
        }
        choices.chosen = try Example.application("absent")
        #expect(registry.handlers(for: rich, with: choices).first?.id == ids[0])
        choices.documentApplication = ids[1]
        #expect(registry.handlers(for: rich, with: choices).count == 3)
    }

    @Test("a connection has at most 256 types; too many change nothing")
    func quota() throws {
        var registry = Registry()
        let types = (0..<256).map { "t\($0)" }
        try registry.register(try registration(":1.1", types: types))
        let tooMany = try registration(":1.1", types: types, documents: ["text/plain": "text"])
        #expect(code { try registry.register(tooMany) } == .limitsExceeded)
        #expect(registry.registration(of: ":1.1")?.declaration.types.count == 256)
    }

    private func installed(
        _ application: String, team: String? = "com.example", types: [String] = ["edit"],
        start: InstalledApplication.Start? = .bus
    ) throws -> InstalledApplication {
        InstalledApplication(
            try Example.application(application), team: try team.map { try Team($0) },
            declaration: Declaration(activityTypes: try types.map { try Example.type($0) }),
            start: start)
    }

    @Test("an application has the types of its desktop entry too, after those that it registers with")
    func entryTypes() throws {
        var registry = Registry()
        #expect(registry.setInstalled([try installed("notes", types: ["edit", "print"])]) == [])
        try registry.register(try registration(":1.1", types: []))
        #expect(try registry.activityType("", for: ":1.1") == Example.type("edit"))
        try registry.register(try registration(":1.1", types: ["view"]))
        #expect(try registry.activityType("", for: ":1.1") == Example.type("view"))
        #expect(try registry.activityType("com.example.notes.print", for: ":1.1") == Example.type("print"))
        #expect(registry.setInstalled([]) == [":1.1"])
        #expect(
            code { _ = try registry.activityType("com.example.notes.print", for: ":1.1") } == .typeNotDeclared
        )
        #expect(registry.setInstalled([]) == [])
    }

    @Test("the team is what it registers with, else that of its desktop entry, else itself alone")
    func entryTeam() throws {
        var registry = Registry()
        _ = registry.setInstalled([try installed("notes", team: "com.entry")])
        try registry.register(try registration(":1.1", team: nil))
        try registry.register(try registration(":1.2", team: "com.own"))
        #expect(registry.registration(of: ":1.1")?.team.description == "com.entry")
        #expect(registry.registration(of: ":1.2")?.team.description == "com.own")
        #expect(registry.setInstalled([]) == [":1.1"])
        #expect(registry.registration(of: ":1.1")?.team == Team(try Example.application()))
    }

    @Test("the origin's application is best, then running ones of the team, then those that can be started")
    func installedHandlers() throws {
        var registry = Registry()
        _ = registry.setInstalled([
            try installed("writer", start: .program), try installed("notes"),
            try installed("idle", start: nil),
            try installed("stranger", team: "com.other"), try installed("viewer", types: ["view"]),
            try installed("painter"),
        ])
        try registry.register(try registration(":1.1", "painter"))
        let order = ["notes", "painter", "writer"]
        #expect(
            registry.handlers(for: try Example.offer())
                == (try order.map { .application(try Example.application($0)) }))
        #expect(registry.connection(for: try Example.application("notes")) == nil)
    }

    @Test("the default browser is started for pages of any team, if its desktop entry declares them")
    func installedBrowser() throws {
        var registry = Registry()
        let (browser, other) = (try Example.application("browser"), try Example.application("viewer"))
        let pages = Declaration(activityTypes: [.browsingWeb])
        _ = registry.setInstalled([
            InstalledApplication(browser, declaration: pages, start: .program),
            InstalledApplication(other, declaration: pages, start: .bus),
        ])
        let offer = Offer(
            id: try Example.activity(1), type: .browsingWeb, title: "",
            applicationID: try Example.application("origin"), team: try Example.team(),
            webpageHost: "example.com", revision: 1, since: 0)
        var choices = HandlerChoices()
        #expect(registry.handlers(for: offer, with: choices).isEmpty)
        choices.browser = browser
        #expect(registry.handlers(for: offer, with: choices) == [.application(browser)])
        _ = registry.setInstalled([InstalledApplication(browser, declaration: Declaration(), start: .program)]
        )
        #expect(registry.handlers(for: offer, with: choices) == [.browser(browser)])
    }

    @Test("an application that runs counts by its own word, and not by its desktop entry")
    func runningHandler() throws {
        var registry = Registry()
        _ = registry.setInstalled([try installed("writer")])
        let writer = try Example.application("writer")
        let offer = try Example.offer()
        #expect(registry.handlers(for: offer) == [.application(writer)])
        try registry.register(try registration(":1.1", "writer", team: "com.other"))
        #expect(registry.handlers(for: offer) == [])
        #expect(registry.connection(for: writer, continuing: offer) == nil)
        #expect(registry.connection(for: writer) == ":1.1")
    }

    @Test("with its desktop entry an application has no more types and hosts than any other")
    func limits() throws {
        func declaration(_ name: String, _ count: Int) throws -> Declaration {
            Declaration(
                activityTypes: try (0..<count).map { try Example.type("\(name)\($0)") },
                documentTypes: Dictionary(
                    uniqueKeysWithValues: try (0..<count).map {
                        ("text/\(name)\($0)", try Example.type("\(name)document\($0)"))
                    }),
                domains: (0..<count / 8).map { "\(name)\($0).example.com" })
        }
        let own = try declaration("own", 100)
        let both = own.union(try declaration("entry", 256))
        #expect(both.types.count == 256 && both.domains.count == 32)
        #expect(both.types.starts(with: own.activityTypes) && both.domains.starts(with: own.domains))
        #expect(own.documentTypes.allSatisfy { both.documentTypes[$0.key] == $0.value })
        #expect(own.union(own) == own)
    }

    @Test("declarations add up, the first having its way")
    func union() throws {
        let (edit, view) = (try Example.type("edit"), try Example.type("view"))
        let own = Declaration(activityTypes: [view], documentTypes: ["a/b": view], domains: ["x.example.net"])
        let entry = Declaration(
            activityTypes: [edit, view], documentTypes: ["a/b": edit, "c/d": edit],
            domains: ["x.example.net", "y.example.net"])
        let union = own.union(entry)
        #expect(union.activityTypes == [view, edit])
        #expect(union.documentTypes == ["a/b": view, "c/d": edit])
        #expect(union.domains == ["x.example.net", "y.example.net"])
        #expect(union.types == [view, edit])
    }

    @Test("what does not receive is handed nothing, though it registered last under the same id")
    func receives() throws {
        var registry = Registry()
        let notes = try Example.application()
        let offer = try Example.offer()
        try registry.register(try registration(":1.2", receives: false))
        #expect(registry.handlers(for: offer).isEmpty)
        #expect(registry.connection(for: notes) == nil)
        #expect(try registry.activityType("", for: ":1.2") == Example.type("edit"))
        try registry.register(try registration(":1.1"))
        try registry.register(try registration(":1.2", receives: false))
        #expect(registry.handlers(for: offer) == [.application(notes)])
        #expect(registry.connection(for: notes) == ":1.1")
        #expect(registry.connection(for: notes, continuing: offer) == ":1.1")
        registry.remove(":1.1")
        #expect(registry.connection(for: notes, continuing: offer) == nil)
    }

    @Test("an application that can be started is not kept from it by one of its id that does not receive")
    func receivesBesideEntry() throws {
        var registry = Registry()
        _ = registry.setInstalled([try installed("notes")])
        try registry.register(try registration(":1.1", receives: false))
        #expect(registry.handlers(for: try Example.offer()) == [.application(try Example.application())])
    }

    @Test("whose registration was ended is told so until it registers again or leaves")
    func ended() throws {
        var registry = Registry()
        let notes = try Example.application()
        func failure(_ connection: String) -> String {
            var registry = registry
            _ = registry.remove(connection)
            do { _ = try registry.requireRegistration(of: connection) } catch { return error.message }
            return ""
        }
        let reason = "It was forgotten. Call RegisterApplication again."
        #expect(!failure(":1.1").contains(reason))
        registry.ended(":1.1", notes, reason)
        #expect(failure(":1.1").contains(reason) && failure(":1.1").contains(notes.description))
        #expect(!failure(":1.2").contains(reason))
        try registry.register(try registration(":1.1"))
        #expect(registry.ending(of: ":1.1") == nil)
        registry.ended(":1.1", notes, reason)
        registry.vanished(":1.1")
        #expect(registry.ending(of: ":1.1") == nil)
    }
}
