// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Adapters, which stand for applications that do not know Handoff")
struct RegistryAdaptersTests {
    private func registration(
        _ connection: String, _ application: String = "notes", isAdapter: Bool = true, receives: Bool = true,
        types: [String] = ["edit"]
    ) throws -> Registration {
        Registration(
            connection: connection, applicationID: try Example.application(application),
            team: try Example.team(),
            declaration: Declaration(activityTypes: try types.map { try Example.type($0) }),
            objectPath: "/com/example", receives: receives, isAdapter: isAdapter)
    }

    private func installed(
        _ application: String, adapter: String? = nil, start: InstalledApplication.Start? = .program,
        domains: [String] = []
    ) throws -> InstalledApplication {
        InstalledApplication(
            try Example.application(application), team: try Example.team(),
            declaration: Declaration(activityTypes: [try Example.type()], domains: domains), start: start,
            adapter: try adapter.map { try AdapterName($0) })
    }

    private func failure(_ body: () throws -> Void) -> HandoffFailure? {
        do { try body() } catch { return error as? HandoffFailure }
        return nil
    }

    private func ids(_ names: String...) throws -> [ApplicationID] {
        try names.map { try Example.application($0) }
    }

    @Test(
        "an application that registers itself replaces its adapters, and no others", arguments: [true, false])
    func replaced(receives: Bool) throws {
        var registry = Registry()
        try registry.register(try registration(":1.1"))
        try registry.register(try registration(":1.2"))
        try registry.register(try registration(":1.3", "writer"))
        #expect(registry.replacedAdapters.isEmpty)
        try registry.register(try registration(":1.4", isAdapter: false, receives: receives))
        #expect(registry.replacedAdapters.map(\.connection) == [":1.1", ":1.2"])
        for adapter in registry.replacedAdapters {
            #expect(adapter.applicationID == (try Example.application()))
            #expect(adapter.reason.contains("com.example.notes has registered itself"))
            #expect(adapter.reason.contains("step back"))
            registry.remove(adapter.connection)
        }
        #expect(registry.replacedAdapters.isEmpty && registry.all.count == 2)
    }

    @Test(
        "an adapter is refused while its application is registered, and no longer", arguments: [true, false])
    func refused(receives: Bool) throws {
        var registry = Registry()
        let native = try registration(":1.1", isAdapter: false, receives: receives)
        try registry.register(native)
        let former = try registration(":1.2", "writer")
        try registry.register(former)
        let failure = failure { try registry.register(try registration(":1.2")) }
        #expect(failure?.code == .notSupported)
        #expect(failure?.message.contains("com.example.notes has registered itself") == true)
        #expect(registry.all == [native, former])
        registry.remove(":1.1")
        #expect(try registry.register(try registration(":1.2")) == former)
        #expect(registry.replacedAdapters.isEmpty)
    }

    @Test("a connection may make an application of an adapter, and an adapter of an application")
    func sameConnection() throws {
        var registry = Registry()
        try registry.register(try registration(":1.1"))
        try registry.register(try registration(":1.1", isAdapter: false))
        #expect(registry.replacedAdapters.isEmpty)
        try registry.register(try registration(":1.1"))
        #expect(registry.replacedAdapters.isEmpty)
        #expect(registry.registration(of: ":1.1")?.isAdapter == true)
    }

    @Test(
        "no adapter stands for an application whose desktop entry says that it knows Handoff",
        arguments: [InstalledApplication.Start?.none, .bus])
    func installedNative(start: InstalledApplication.Start?) throws {
        var registry = Registry()
        try registry.register(try registration(":1.1"))
        _ = registry.setInstalled([try installed("notes", adapter: "media")])
        #expect(registry.replacedAdapters.isEmpty)
        try registry.register(try registration(":1.2"))
        _ = registry.setInstalled([try installed("notes", start: start)])
        #expect(registry.replacedAdapters.map(\.connection) == [":1.1", ":1.2"])
        #expect(registry.replacedAdapters.first?.reason.contains("X-Handoff-Adapter") == true)
        let failure = failure { try registry.register(try registration(":1.1")) }
        #expect(failure?.code == .notSupported && failure?.message.contains("X-Handoff-Adapter") == true)
    }

    @Test("of those of the team that run, adapters come last, and the origin's id first, adapter or not")
    func order() throws {
        var registry = Registry()
        _ = registry.setInstalled([try installed("absent")])
        try registry.register(try registration(":1.1", "writer", isAdapter: false))
        try registry.register(try registration(":1.2", "viewer"))
        try registry.register(try registration(":1.3", "painter"))
        try registry.register(try registration(":1.4", "reader", isAdapter: false))
        let fromElsewhere = try Example.offer(application: "nothing")
        #expect(
            registry.handlers(for: fromElsewhere).map(\.id)
                == (try ids("reader", "writer", "painter", "viewer", "absent")))
        #expect(
            registry.handlers(for: try Example.offer(application: "viewer")).map(\.id)
                == (try ids("viewer", "reader", "writer", "painter", "absent")))
    }

    @Test(
        "of several adapters of one application the latest continues, and the application itself before all of them"
    )
    func latest() throws {
        var registry = Registry()
        let notes = try Example.application()
        try registry.register(try registration(":1.1"))
        try registry.register(try registration(":1.2"))
        #expect(registry.connection(for: notes, continuing: try Example.offer()) == ":1.2")
        try registry.register(try registration(":1.3", isAdapter: false))
        try registry.register(try registration(":1.1", "writer"))
        #expect(registry.connections(for: notes) == [":1.2", ":1.3"])
        #expect(registry.connection(for: notes, continuing: try Example.offer()) == ":1.3")
    }

    @Test(
        "an adapter that would have to be started comes after all that know Handoff, also after the user's browser"
    )
    func startedLast() throws {
        var registry = Registry()
        let page = Declaration(activityTypes: [.browsingWeb])
        let (catcher, browser, reader) = (
            try Example.application("catcher"), try Example.application("browser"),
            try Example.application("reader")
        )
        _ = registry.setInstalled([
            InstalledApplication(
                catcher, team: try Example.team(), declaration: page, start: .bus,
                adapter: try AdapterName("browser")),
            InstalledApplication(
                browser, team: try Team("com.other"), declaration: page, start: .program),
            InstalledApplication(
                reader, team: try Example.team(), declaration: page, start: .program),
        ])
        var choices = HandlerChoices()
        choices.browser = browser
        let offer = Offer(
            id: try Example.activity(1), type: .browsingWeb, title: "Page",
            applicationID: try Example.application("nothing"),
            team: try Example.team(), webpageHost: "www.example.com", documentType: nil,
            supportsContinuationStreams: false, revision: 1, since: 0)
        #expect(registry.handlers(for: offer, with: choices).map(\.id) == [reader, browser, catcher])
    }

    @Test("what belongs to an adapter that is switched off is not started, and comes back with it")
    func switchedOff() throws {
        var registry = Registry()
        _ = registry.setInstalled([
            try installed("notes", adapter: "media"), try installed("writer"),
            try installed("reader", adapter: "browser"),
        ])
        let all = try ids("notes", "writer", "reader")
        #expect(registry.handlers(for: try Example.offer()).map(\.id) == all)
        registry.disabledAdapters = [try AdapterName("media")]
        #expect(registry.isSwitchedOff(all[0]) && !registry.isSwitchedOff(all[1]))
        #expect(registry.handlers(for: try Example.offer()).map(\.id) == [all[1], all[2]])
        // Who runs is there all the same: an adapter that is switched off ends by itself.
        try registry.register(try registration(":1.1"))
        #expect(registry.handlers(for: try Example.offer()).map(\.id) == all)
        registry.remove(":1.1")
        registry.disabledAdapters = []
        #expect(registry.handlers(for: try Example.offer()).map(\.id) == all)
    }

    @Test(
        "an adapter that is switched off is given no page and no document, whatever the user opens those with"
    )
    func switchedOffChoices() throws {
        var registry = Registry()
        let adapter = try Example.application("player")
        _ = registry.setInstalled([try installed("player", adapter: "media")])
        var choices = HandlerChoices()
        (choices.browser, choices.documentApplication, choices.claimants) = (adapter, adapter, [adapter])
        let offer = try Example.offer(
            type: "none", team: "com.other", host: "www.example.com", document: "text/plain")
        #expect(registry.handlers(for: offer, with: choices) == [.application(adapter)])
        choices.claimants = []
        #expect(registry.handlers(for: offer, with: choices) == [.browser(adapter)])
        choices.browser = nil
        #expect(registry.handlers(for: offer, with: choices) == [.documentApplication(adapter)])
        (choices.browser, choices.claimants) = (adapter, [adapter])
        registry.disabledAdapters = [try AdapterName("media")]
        #expect(registry.handlers(for: offer, with: choices).isEmpty)
    }

    @Test("an adapter whose applications are missing continues no document that nothing else opens")
    func needsOthers() throws {
        var registry = Registry()
        var player = InstalledApplication(
            try Example.application("player"), team: try Example.team(),
            declaration: Declaration(activityTypes: [try Example.type()]), start: .bus,
            adapter: try AdapterName("media"), opensWith: ["mpv", "vlc"])
        player.canOpen = false
        _ = registry.setInstalled([player])
        let (film, stream) = (try Example.offer(document: "video/x-matroska"), try Example.offer())
        #expect(registry.handlers(for: film).isEmpty)
        #expect(registry.keptOut(from: film).needed == ["mpv", "vlc"])
        #expect(registry.handlers(for: stream).map(\.id) == [player.applicationID])
        #expect(registry.keptOut(from: stream).needed.isEmpty)
        var choices = HandlerChoices()
        choices.documentApplication = try Example.application("viewer")
        #expect(registry.handlers(for: film, with: choices).count == 2)
        try registry.register(try registration(":1.1", "player"))
        #expect(registry.handlers(for: film).map(\.id) == [player.applicationID])
        registry.remove(":1.1")
        player.canOpen = true
        _ = registry.setInstalled([player])
        #expect(registry.handlers(for: film).map(\.id) == [player.applicationID])
    }

    @Test("whatever happens, an application is never there beside its adapter", arguments: 1...20)
    func property(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var registry = Registry()
        let names = ["notes", "writer", "viewer"]
        for _ in 0..<300 {
            let connection = ":1.\(Int.random(in: 0...5, using: &generator))"
            let name = names[Int.random(in: 0..<3, using: &generator)]
            let isNative = { (id: ApplicationID) in
                registry.all.contains {
                    $0.applicationID == id && !$0.isAdapter && $0.connection != connection
                }
                    || registry.installed[id].map { $0.adapter == nil } ?? false
            }
            switch Int.random(in: 0..<8, using: &generator) {
            case 0..<5:
                let new = try registration(
                    connection, name, isAdapter: Bool.random(using: &generator),
                    receives: Bool.random(using: &generator))
                let mayBe = !new.isAdapter || !isNative(new.applicationID)
                let before = registry.all
                #expect((code { try registry.register(new) } == nil) == mayBe)
                if !mayBe { #expect(registry.all == before) }
            case 5: registry.remove(connection)
            default:
                _ = registry.setInstalled([
                    try installed(name, adapter: Bool.random(using: &generator) ? "media" : nil)
                ])
            }
            for adapter in registry.replacedAdapters { registry.remove(adapter.connection) }
            #expect(registry.replacedAdapters.isEmpty)
            for adapter in registry.all where adapter.isAdapter {
                #expect(!registry.all.contains { $0.applicationID == adapter.applicationID && !$0.isAdapter })
                #expect(registry.installed[adapter.applicationID].map { $0.adapter != nil } ?? true)
            }
        }
    }
}
