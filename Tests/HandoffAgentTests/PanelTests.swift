// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffAgent
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@Suite("The panel", .timeLimit(.minutes(1)))
struct PanelTests {
    /// A panel, somebody who listens to everything, and what was done.
    @MainLoop
    private final class Rig {
        let server: Bus
        let client: Bus
        let panel: Panel
        let gate: LockGate
        let actions = RecordedActions()
        var signals: [String] = []
        private let bus: MemoryBus
        private var tokens: [SignalToken] = []

        init() async throws {
            bus = MemoryBus()
            server = bus.connect()
            client = bus.connect()
            server.connection.policy = BusAccessPolicy()
            gate = LockGate(actions)
            panel = Panel(on: server, gate, KnownFaces())
            gate.lead(to: panel)
            gate.set(isLocked: false)
            for interface: InterfaceName in ["org.kde.StatusNotifierItem", "com.canonical.dbusmenu"] {
                client.addMatch(MatchRule(sender: server.uniqueName, interface: interface))
                tokens.append(
                    client.connection.onSignal(interface) { [weak self] in
                        self?.signals.append($0.member ?? "")
                    })
            }
        }

        /// The menu's numbers, by the labels of the items.
        func numbers() -> [String: Int32] {
            let items = panel.menu.root.children.flatMap { [$0] + $0.children }
            return Dictionary(items.map { ($0.properties["label"]?.string ?? "", $0.id) }) { first, _ in first
            }
        }

        func call(_ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName, _ arguments: [Value])
            async throws
        {
            _ = try await RemoteObject(client.connection, server.uniqueName, path).call(
                interface, member, output: ""
            ) { (writer) throws(DBusError) in
                for argument in arguments {
                    switch argument {
                    case .int32(let number): try writer.write(number)
                    case .string(let text): try writer.write(text)
                    case .uint32(let number): try writer.write(number)
                    default: try writer.write(argument)
                    }
                }
            }
        }

        func click(_ id: Int32) async throws {
            try await call(
                HandoffNames.agentMenu, "com.canonical.dbusmenu", "Event",
                [.int32(id), .string("clicked"), .variant(.int32(0)), .uint32(0)])
        }
    }

    @Test("tells nobody anything before there is an item, and then once of many changes")
    func gathered() async throws {
        try await onLoop {
            let rig = try await Rig()
            let watcher = Watcher()
            rig.client.connection.policy = BusAccessPolicy()
            rig.client.connection.objects.export(
                "/StatusNotifierWatcher", [StatusNotifierWatcherBinding(watcher)])
            _ = try await rig.client.request("org.kde.StatusNotifierWatcher")
            rig.panel.begin()
            rig.gate.update(try Sample.report([]))
            try await letPass(.milliseconds(100))
            #expect(watcher.items.isEmpty && rig.signals.isEmpty)
            rig.gate.update(try Sample.report(["One"]))
            try await eventually { watcher.items == [HandoffNames.agentItem.text] }
            for number in 0..<20 { rig.gate.update(try Sample.report(["Two \(number)"])) }
            try await eventually { rig.signals.contains("NewToolTip") }
            #expect(rig.numbers()["“Two 19” — desk"] != nil)
            try await letPass(.milliseconds(100))
            #expect(rig.signals == ["LayoutUpdated", "NewToolTip"])
            // What looks the same is no change.
            rig.gate.update(try Sample.report(["Two 19"]))
            try await letPass(.milliseconds(100))
            #expect(rig.signals.count == 2 && watcher.items.count == 1)
        }
    }

    @Test(
        "does what is chosen, with the token that was given for it, and nothing while the session is locked")
    func choosing() async throws {
        try await onLoop {
            let rig = try await Rig()
            rig.panel.begin()
            rig.gate.update(try Sample.report(["One"]))
            try await eventually { rig.numbers()["“One” — desk"] != nil }
            let numbers = rig.numbers()
            let offer = try #require(numbers["“One” — desk"])
            let window = try #require(numbers["Open Handoff"])
            let toggle = try #require(numbers["Handoff is on"])
            let item: InterfaceName = "org.kde.StatusNotifierItem"
            try await rig.call(HandoffNames.agentItem, item, "ProvideXdgActivationToken", [.string("abc")])
            try await rig.click(offer)
            try await rig.click(window)
            try await rig.click(toggle)
            try await rig.call(HandoffNames.agentItem, item, "ProvideXdgActivationToken", [.string("def")])
            try await rig.call(HandoffNames.agentItem, item, "Activate", [.int32(0), .int32(0)])
            #expect(
                rig.actions.actions == [
                    "continue \(try Sample.path(0).lastElement) [abc]", "window []", "enabled false",
                    "window [def]",
                ])
            rig.actions.actions = []
            rig.gate.set(isLocked: true)
            // Before the menu shows that, if it is not so slow that there is no such item any more, and after.
            do {
                try await rig.click(offer)
            } catch let error as DBusError {
                #expect(error.name == .invalidArgs)
            }
            try await eventually { rig.numbers()["“One” — desk"] == nil }
            #expect(!rig.panel.content.isActive && rig.panel.content.title == "Handoff")
            try await rig.click(try #require(rig.numbers()["Open Handoff"]))
            await #expect(throws: DBusError.self) { try await rig.click(offer) }
            #expect(rig.actions.actions.isEmpty)
            rig.gate.set(isLocked: false)
            try await eventually { rig.panel.content.isActive }
        }
    }

    @Test("is not in the panel while the shell shows an indicator of its own, and is again when it does not")
    func shownByShell() async throws {
        try await onLoop {
            let rig = try await Rig()
            let watcher = Watcher()
            rig.client.connection.policy = BusAccessPolicy()
            rig.client.connection.objects.export(
                "/StatusNotifierWatcher", [StatusNotifierWatcherBinding(watcher)])
            _ = try await rig.client.request("org.kde.StatusNotifierWatcher")
            rig.panel.isShownByShell = true
            rig.panel.begin()
            rig.gate.update(try Sample.report(["One"]))
            try await letPass(.milliseconds(100))
            #expect(watcher.items.isEmpty && rig.panel.content.status == "Passive")
            rig.panel.isShownByShell = false
            try await eventually { watcher.items == [HandoffNames.agentItem.text] }
            #expect(rig.panel.content.status == "Active")
            rig.panel.isShownByShell = true
            try await eventually { rig.signals.contains("NewStatus") }
            #expect(rig.panel.content.status == "Passive")
        }
    }

    @Test("offers to send what is current, unless the user has excluded its application")
    func sending() async throws {
        try await onLoop {
            let rig = try await Rig()
            rig.panel.begin()
            rig.gate.update(try Sample.sendingReport(excluded: []))
            try await eventually { rig.numbers()["Send to…"] != nil }
            try await rig.click(try #require(rig.numbers()["desk"]))
            try await rig.click(try #require(rig.numbers()["Everything on desk…"]))
            #expect(rig.actions.actions == ["send dddd", "everything dddd []"])
            rig.gate.update(try Sample.sendingReport(excluded: ["com.example.editor"]))
            try await eventually { rig.numbers()["Send to…"] == nil }
        }
    }

    @Test("pastes from the devices that are connected, unless the user has switched the clipboard off")
    func pasting() async throws {
        try await onLoop {
            let rig = try await Rig()
            rig.panel.begin()
            for mode in ["ask", "follow"] {
                rig.gate.update(try Sample.sendingReport(excluded: [], clipboard: mode))
                try await eventually { rig.numbers()["Paste from desk"] != nil }
            }
            try await rig.click(try #require(rig.numbers()["Paste from desk"]))
            #expect(rig.actions.actions == ["paste dddd"])
            rig.gate.update(try Sample.sendingReport(excluded: [], clipboard: "ask", desktop: ""))
            let unreached = "The clipboard of this desktop cannot be reached"
            try await eventually { rig.numbers()[unreached] != nil }
            #expect(rig.numbers()["Paste from desk"] == nil)
            try await rig.click(try #require(rig.numbers()[unreached]))
            #expect(rig.actions.actions.count == 1)
            rig.gate.update(try Sample.sendingReport(excluded: [], clipboard: "off", desktop: ""))
            try await eventually { rig.numbers()[unreached] == nil }
        }
    }

    @Test("catches up with what has changed when it is about to be shown")
    func catchingUp() async throws {
        try await onLoop {
            let rig = try await Rig()
            rig.panel.begin()
            #expect(!rig.panel.catchUp())
            rig.gate.update(try Sample.report(["One"]))
            #expect(rig.panel.catchUp() && rig.numbers()["“One” — desk"] != nil)
            #expect(!rig.panel.catchUp())
        }
    }

    @MainLoop
    private final class Watcher: StatusNotifierWatcherServer {
        var items: [String] = []
        func registerStatusNotifierItem(service: String, _ call: MethodCall) throws {
            items.append(service)
        }
    }
}

@Suite("What the search finds", .timeLimit(.minutes(1)))
struct OfferIndexTests {
    @Test("is what there is once that is known, for which the first question waits a second")
    func waiting() async throws {
        try await onLoop {
            let index = OfferIndex(KnownFaces())
            let found = Promise<[String]>()
            MainLoop.start { found.keep(await index.matches(for: ["edit", "repo"]).map(\.offer.title)) }
            try await letPass(.milliseconds(50))
            #expect(found.value == nil)
            index.update(try Sample.report(["A report", "Another"]))
            #expect(try await found.get() == ["A report"])
            let unknown = OfferIndex(KnownFaces())
            let start = ContinuousClock.now
            #expect(await unknown.matches(for: ["continue"]).isEmpty)
            #expect((.milliseconds(900) ... .seconds(10)).contains(ContinuousClock.now - start))
        }
    }

    @Test("an offer is found by its key as long as it is there")
    func keys() async throws {
        try await onLoop {
            let index = OfferIndex(KnownFaces())
            index.update(try Sample.report(["A report"]))
            let offer = try #require(await index.matches(for: ["report"]).first).offer
            #expect(offer.application == "Text Editor" && offer.icon == "text-editor")
            #expect(await index.offer(offer.key) == offer)
            for key in ["\(offer.key)x", "", "*"] { #expect(await index.offer(key) == nil) }
            index.update(try Sample.report([]))
            #expect(await index.offer(offer.key) == nil)
        }
    }
}
