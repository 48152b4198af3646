// SPDX-License-Identifier: LGPL-2.1-or-later

import Testing

@testable import HandoffCore

@Suite("Applications that the user has excluded")
struct RegistryExcludedTests {
    private let notes: ApplicationID
    private let writer: ApplicationID
    private let offer: Offer

    init() throws {
        notes = try Example.application("notes")
        writer = try Example.application("writer")
        offer = try Example.offer()
    }

    private func registration(
        _ connection: String, _ application: ApplicationID, package: SandboxPackage? = nil
    ) throws -> Registration {
        Registration(
            connection: connection, applicationID: application, team: try Example.team(),
            declaration: Declaration(activityTypes: [try Example.type()]), objectPath: "/", package: package)
    }

    private func entry(
        _ application: ApplicationID, package: SandboxPackage? = nil
    ) throws -> InstalledApplication {
        InstalledApplication(
            application, team: try Example.team(),
            declaration: Declaration(activityTypes: [try Example.type()]), start: .bus, package: package)
    }

    @Test(
        "it is no handler, running or not, and it is told what would be one; the others stay, in their order")
    func handlers() throws {
        var registry = Registry()
        try registry.register(try registration(":1.1", notes))
        _ = registry.setInstalled([try entry(notes), try entry(writer)])
        #expect(registry.handlers(for: offer) == [.application(notes), .application(writer)])
        registry.excluded = try ExcludedApplications([notes.description])
        #expect(registry.handlers(for: offer) == [.application(writer)])
        #expect(registry.connection(for: notes) == nil && registry.connections(for: notes).isEmpty)
        #expect(registry.registration(of: ":1.1") != nil)
        #expect(registry.keptOut(from: offer) == KeptOut(applications: [notes]))
        registry.excluded = try ExcludedApplications([notes.description, writer.description])
        #expect(registry.handlers(for: offer).isEmpty)
        #expect(registry.keptOut(from: offer).applications == [notes, writer])
        registry.excluded = ExcludedApplications()
        #expect(registry.handlers(for: offer) == [.application(notes), .application(writer)])
        #expect(registry.connection(for: notes) == ":1.1" && registry.keptOut(from: offer) == KeptOut())
    }

    @Test("a browser, an application for documents and one that a site has given its pages are none either")
    func others() throws {
        let (browser, reader) = (try Example.application("browser"), try Example.application("reader"))
        var registry = Registry()
        _ = registry.setInstalled([try entry(writer)])
        var choices = HandlerChoices()
        (choices.browser, choices.documentApplication) = (browser, reader)
        choices.claimants = [writer]
        choices.chosen = reader
        let offer = try Example.offer(
            application: "none", team: "none", host: "www.example.com", document: "text/plain")
        #expect(
            registry.handlers(for: offer, with: choices) == [
                .documentApplication(reader), .application(writer), .browser(browser),
            ])
        registry.excluded = try ExcludedApplications([browser, reader, writer].map(\.description))
        #expect(registry.handlers(for: offer, with: choices).isEmpty)
        #expect(
            registry.keptOut(from: offer, with: choices)
                == KeptOut(applications: [reader, writer, browser], hasBrowser: true))
    }

    @Test("who declares the type and is of another team is named, with both teams, and what to do")
    func otherTeam() throws {
        var registry = Registry()
        let (ours, theirs) = (try Example.team("ours"), try Example.team("theirs"))
        let offer = try Example.offer(team: "ours")
        let declaration = Declaration(activityTypes: [offer.type])
        _ = registry.setInstalled([InstalledApplication(writer, team: theirs, declaration: declaration)])
        #expect(registry.keptOut(from: offer).ofOtherTeam?.application == writer)
        // One that runs is more likely to be the one that is meant.
        try registry.register(
            Registration(
                connection: ":1.1", applicationID: notes, team: theirs, declaration: declaration,
                objectPath: "/"))
        let keptOut = registry.keptOut(from: offer)
        #expect(keptOut == KeptOut(ofOtherTeam: KeptOut.Stranger(application: notes, team: theirs)))
        let message = HandoffFailure.noApplication(for: offer, keptOut: keptOut).message
        #expect([notes.description, ours.description, theirs.description].allSatisfy(message.contains))
        #expect(message.hasSuffix("it has to name the team of the application that the activity comes from."))
    }

    @Test("an id that only begins alike, or differs in case, is another application")
    func similar() throws {
        var registry = Registry()
        try registry.register(try registration(":1.1", notes))
        for text in [notes.description + "x", notes.description + "_x", "com.example", "com.example.Notes"] {
            registry.excluded = try ExcludedApplications([text])
            #expect(registry.handlers(for: offer) == [.application(notes)], "\(text)")
        }
    }

    @Test(
        "who runs in a snap is known by it: no id that the snap may register lets it escape",
        arguments: ["writer", "writer_app", "writer_other"])
    func snap(id: String) throws {
        var registry = Registry()
        let (inside, other) = (SandboxPackage.snap("writer"), SandboxPackage.snap("writer-2"))
        try registry.register(try registration(":1.1", try ApplicationID(id), package: inside))
        try registry.register(try registration(":1.2", try ApplicationID("writer-2_app"), package: other))
        try registry.register(try registration(":1.3", try ApplicationID("writer_unconfined")))
        for excluded in ["writer", "writer_app"] {
            registry.excluded = try ExcludedApplications([excluded])
            let isExcluded = try [":1.1", ":1.2", ":1.3"].map {
                registry.isExcluded(try #require(registry.registration(of: $0)))
            }
            #expect(isExcluded == [true, false, false], "\(excluded)")
        }
    }

    @Test("the desktop entries of one Flatpak are excluded together, and those of others are not")
    func flatpak() throws {
        let office = SandboxPackage.flatpak("org.office")
        let (main, calc) = (try ApplicationID("org.office"), try ApplicationID("org.office.calc"))
        var registry = Registry()
        try registry.register(try registration(":1.1", main, package: office))
        registry.excluded = try ExcludedApplications([calc.description])
        let running = try #require(registry.registration(of: ":1.1"))
        #expect(!registry.isExcluded(running), "nothing is known of the entry yet")
        _ = registry.setInstalled([
            try entry(main, package: office), try entry(calc, package: office), try entry(notes),
        ])
        #expect(registry.isExcluded(running) && registry.isExcluded(main) && registry.isExcluded(calc))
        #expect(registry.handlers(for: offer) == [.application(notes)])
        registry.excluded = try ExcludedApplications([main.description])
        #expect(registry.isExcluded(running) && registry.isExcluded(calc) && !registry.isExcluded(notes))
        _ = registry.setInstalled([try entry(notes)])
        #expect(registry.isExcluded(running) && !registry.isExcluded(calc))
    }

    @Test(
        "whatever is registered and installed, nothing excluded continues anything, and the rest is as without",
        arguments: 1...40)
    func properties(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let names = try ["a", "b", "c", "d"].map { try Example.application($0) }
        let packages: [SandboxPackage?] = [nil, .flatpak("com.example.a"), .snap("s")]
        for _ in 0..<60 {
            var (registry, without) = (Registry(), Registry())
            registry.excluded = try ExcludedApplications(
                names.filter { _ in generator.chance(40) }.map(\.description))
            let installed = try names.filter { _ in generator.chance(60) }.map {
                try entry($0, package: try generator.pick(packages))
            }
            _ = registry.setInstalled(installed)
            _ = without.setInstalled(installed)
            for number in 0..<3 {
                let one = try registration(
                    ":1.\(number)", try generator.pick(names), package: try generator.pick(packages))
                try registry.register(one)
                try without.register(one)
            }
            let (handlers, all) = (
                registry.handlers(for: offer).map(\.id), without.handlers(for: offer).map(\.id)
            )
            let keptOut = registry.keptOut(from: offer).applications
            #expect(!handlers.contains { registry.isExcluded($0) })
            #expect(handlers.allSatisfy { all.contains($0) } && Set(handlers).isDisjoint(with: keptOut))
            #expect(all == all.filter { handlers.contains($0) || keptOut.contains($0) })
            for id in handlers {
                let connection = registry.connection(for: id, continuing: offer)
                let registration = connection.flatMap { registry.registration(of: $0) }
                #expect(
                    registration.map { !registry.isExcluded($0) } ?? (registry.installed[id]?.start != nil))
            }
            registry.excluded = ExcludedApplications()
            #expect(registry.handlers(for: offer) == without.handlers(for: offer))
        }
    }
}
