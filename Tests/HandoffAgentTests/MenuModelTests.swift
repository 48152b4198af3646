// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffAgent
import MainLoop
import TestSupport
import Testing

@Suite("The panel's menu")
struct MenuModelTests {
    @MainLoop
    private static func content(
        _ titles: [String], recipients: [String] = [], isEnabled: Bool? = true
    ) throws -> PanelContent {
        PanelContent(
            offers: try titles.enumerated().compactMap { $1.isEmpty ? nil : try Sample.shown($0, $1) },
            recipients: recipients.map { .init(id: "id of \($0)", name: $0) }, isEnabled: isEnabled)
    }

    private static func labels(_ items: [MenuModel.Item]) -> [String] {
        items.map { item in
            let label = item.properties["label"]?.string ?? "-"
            return item.children.isEmpty
                ? label : "\(label): \(labels(item.children).joined(separator: ", "))"
        }
    }

    @Test("has offers, to whom to send what is current, the window, and the switch")
    func items() async throws {
        try await onLoop {
            var menu = MenuModel()
            #expect(menu.show(try Self.content(["One", "Two"], recipients: ["desk", "lap"])))
            #expect(
                Self.labels(menu.root.children) == [
                    "“One” — desk", "“Two” — desk", "-", "Send to…: desk, lap", "Open Handoff", "-",
                    "Handoff is on",
                ])
            let items = menu.root.children
            let path = try Sample.path(0)
            #expect(items[0].action == .continueOffer(path))
            #expect(items[0].properties["icon-name"] == .string("text-editor"))
            #expect(items[3].action == nil && items[3].properties["children-display"] == .string("submenu"))
            #expect(items[3].children[1].action == .send(deviceID: "id of lap"))
            #expect(items[6].action == .setEnabled(false) && items[6].properties["toggle-state"] == .int32(1))
            #expect(menu.show(try Self.content([], isEnabled: false)))
            #expect(
                Self.labels(menu.root.children)
                    == ["Nothing to continue", "-", "Open Handoff", "-", "Handoff is on"])
            #expect(menu.root.children[0].properties["enabled"] == .boolean(false))
            #expect(menu.root.children[4].action == .setEnabled(true))
            #expect(menu.show(try Self.content([], isEnabled: nil)))
            #expect(menu.root.children[4].action == nil)
            #expect(menu.root.children[4].properties["enabled"] == .boolean(false))
        }
    }

    @Test("what is open at a device that is connected is below what it offers, or behind all offers")
    func everything() async throws {
        try await onLoop {
            var menu = MenuModel()
            let offers = try (0..<2).compactMap { try Sample.shown($0, "\($0)") }
            let peers = [PanelContent.Peer(id: "other", name: "l_p"), .init(id: Sample.device, name: "desk")]
            _ = menu.show(PanelContent(offers: offers, listable: peers, isEnabled: true))
            #expect(
                Self.labels(menu.root.children).prefix(5) == [
                    "“0” — desk", "“1” — desk", "Everything on desk…", "Everything on l__p…", "-",
                ])
            #expect(menu.root.children[2].action == .openEverything(deviceID: Sample.device))
            _ = menu.show(PanelContent(listable: peers, isEnabled: true))
            #expect(
                Self.labels(menu.root.children).prefix(3) == [
                    "Nothing to continue", "Everything on l__p…", "Everything on desk…",
                ])
            // While it is off there is nobody to ask.
            #expect(PanelContent(try Sample.sendingReport(excluded: []), KnownFaces()).listable.count == 1)
        }
    }

    @Test(
        "what was copied on a device that is connected can be pasted, unless the clipboard here is out of reach"
    )
    func pasting() async throws {
        try await onLoop {
            var menu = MenuModel()
            let peers = ["l_p", "desk"].map { PanelContent.Peer(id: "id of \($0)", name: $0) }
            _ = menu.show(PanelContent(recipients: [peers[1]], sources: [peers[0]], isEnabled: true))
            #expect(
                Self.labels(menu.root.children).dropFirst(2).prefix(3) == [
                    "Send to…: desk", "Paste from l__p", "Open Handoff",
                ])
            #expect(menu.root.children[3].action == .paste(deviceID: "id of l_p"))
            let one = menu.root.children[3].id
            _ = menu.show(PanelContent(sources: peers, isEnabled: true))
            #expect(Self.labels(menu.root.children)[2] == "Paste from…: l__p, desk")
            let several = menu.root.children[2]
            #expect(several.action == nil && several.id != one && menu.item(one) == nil)
            #expect(several.children[1].action == .paste(deviceID: "id of desk"))
            _ = menu.show(PanelContent(sources: peers, reachesClipboard: false, isEnabled: true))
            let item = menu.root.children[2]
            #expect(Self.labels([item]) == ["The clipboard of this desktop cannot be reached"])
            #expect(item.action == nil && item.properties["enabled"] == .boolean(false))
        }
    }

    @Test("numbers stay as long as what they stand for looks the same, and are not given again")
    func numbers() async throws {
        try await onLoop {
            var menu = MenuModel()
            _ = menu.show(try Self.content(["One", "Two"]))
            let former = menu.root.children.map(\.id)
            #expect(!menu.show(try Self.content(["One", "Two"])))
            #expect(menu.revision == 1 && menu.root.children.map(\.id) == former)
            // Another offer comes first, and the second one gets another title.
            _ = menu.show(try Self.content(["One", "Two, changed", "Three"]))
            #expect(menu.revision == 2)
            let items = menu.root.children
            #expect(items[0].id == former[0] && items[4].id == former[3])
            #expect(!former.contains(items[1].id) && !former.contains(items[2].id))
            #expect(menu.item(former[1]) == nil)
            // The switch looks different, so it has another number too.
            _ = menu.show(try Self.content(["One"], isEnabled: false))
            #expect(menu.item(former[5]) == nil && menu.item(former[0]) != nil)
            // What had gone and is there again is not what a late click was meant for.
            _ = menu.show(try Self.content([]))
            _ = menu.show(try Self.content(["One", "Two"]))
            #expect(menu.root.children[0].id != former[0] && menu.root.children[1].id != former[1])
        }
    }

    @Test(
        "a number that was given never stands for another offer, whatever comes and goes", arguments: 0..<20)
    func neverReused(seed: UInt64) async throws {
        try await onLoop {
            var random = Seeded(seed)
            var menu = MenuModel()
            var meanings: [Int32: MenuModel.Action?] = [:]
            for _ in 0..<200 {
                let titles = (0..<5).map { _ in ["", "One", "Two"][Int.random(in: 0..<3, using: &random)] }
                _ = menu.show(
                    try Self.content(titles, recipients: Bool.random(using: &random) ? ["desk"] : []))
                let items = menu.root.children.flatMap { [$0] + $0.children }
                #expect(Set(items.map(\.id)).count == items.count)
                for item in items {
                    #expect(item.id > 0)
                    if let action = meanings[item.id] { #expect(action == item.action) }
                    meanings[item.id] = .some(item.action)
                }
            }
        }
    }

    @Test("numbers begin anew once all have been used, and leave out those that are in use")
    func overflow() async throws {
        try await onLoop {
            var menu = MenuModel(first: .max - 2)
            _ = menu.show(try Self.content(["One", "Two"]))
            #expect(menu.root.children.map(\.id) == [.max - 2, .max - 1, .max, 1, 2, 3])
            _ = menu.show(try Self.content(["One", "Two, changed"]))
            #expect(menu.root.children.map(\.id) == [.max - 2, 4, .max, 1, 2, 3])
        }
    }

    @Test(
        "hostile titles and names stay what they are: text in quotation marks, without shortcuts and line breaks"
    )
    func hostile() async throws {
        try await onLoop {
            var menu = MenuModel()
            let titles = [
                "_Open Handoff", "a”\n“b", "<b>bold</b>", String(repeating: "x", count: 10_000),
                "\u{202E}evil",
            ]
            let shown = try titles.enumerated().compactMap {
                try Sample.shown($0, $1, device: "de_sk\n” — “x")
            }
            _ = menu.show(PanelContent(offers: shown, isEnabled: true))
            let labels = Self.labels(menu.root.children)
            #expect(labels[0] == "“__Open Handoff” — de__sk\u{FFFD}' — 'x")
            #expect(labels[1].hasPrefix("“a'\u{FFFD}'b” — "))
            #expect(labels[2].hasPrefix("“<b>bold</b>” — "))
            #expect(labels[3].count < 200 && labels[3].contains("…” — "))
            #expect(labels[4].hasPrefix("“\u{FFFD}evil” — "))
            let content = PanelContent(offers: [shown[2]])
            // Some panels take this for markup, and others don't.
            #expect(content.toolTip.hasPrefix("“‹b›bold‹/b›” — "))
            let many = try (0..<100).compactMap { try Sample.shown($0, "\($0)") }
            #expect(PanelContent(try Sample.report(many.map(\.title)), KnownFaces()).offers.count == 16)
        }
    }
}

@Suite("What the panel's menu answers")
struct MenuAnswerTests {
    @MainLoop
    private static func menu() throws -> MenuModel {
        var menu = MenuModel()
        let offer = try #require(try Sample.shown(0, "One"))
        _ = menu.show(
            PanelContent(offers: [offer], recipients: [.init(id: "lap", name: "lap")], isEnabled: true))
        return menu
    }

    @Test("the layout goes as deep as it was asked for, with the properties that were asked for")
    func layout() async throws {
        try await onLoop {
            let menu = try Self.menu()
            let all = try menu.layout(of: 0, depth: -1, [])
            #expect(all.fields.0 == 0 && all.fields.1 == ["children-display": .string("submenu")])
            #expect(all.fields.2.count == 6)
            let first = all.fields.2[0]
            #expect(first.typeSignature == "(ia{sv}av)")
            #expect(try menu.layout(of: 0, depth: 0, []).fields.2.isEmpty)
            let one = try menu.layout(of: 0, depth: 1, ["type"])
            #expect(one.fields.1.isEmpty && one.fields.2.count == 6)
            // The item below which others are is the third.
            let (below, none) = (Self.below(all.fields.2[2]), Self.below(one.fields.2[2]))
            #expect(below == 1 && none == 0)
            #expect(Self.below(try menu.layout(of: 0, depth: 2, []).fields.2[2]) == 1)
            let recipients = menu.root.children[2]
            #expect(try menu.layout(of: recipients.id, depth: 1, []).fields.2.count == 1)
            #expect(throws: DBusError.self) { try menu.layout(of: 99, depth: 1, []) }
        }
    }

    /// How many items are below this one.
    private static func below(_ item: Value) -> Int? {
        guard case .structure(let structure) = item, case .array(let array)? = structure.fields.last else {
            return nil
        }
        return array.elements.count
    }

    @Test("properties are given for the items that are there, and for all if none is named")
    func properties() async throws {
        try await onLoop {
            let menu = try Self.menu()
            let first = menu.root.children[0].id
            let some = menu.properties(of: [first, 99], ["label", "enabled"])
            #expect(some.map(\.fields.0) == [first])
            #expect(some[0].fields.1 == ["label": .string("“One” — desk")])
            #expect(menu.properties(of: [], []).count == 8)
            #expect(try menu.property("label", of: first) == .string("“One” — desk"))
            #expect(throws: DBusError.self) { try menu.property("label", of: 99) }
            #expect(throws: DBusError.self) { try menu.property("colour", of: first) }
        }
    }
}

@Suite("An activation token")
struct OfferedTokenTests {
    private static let one = Caller(name: ":1.1", credentials: nil, sandbox: nil)
    private static let other = Caller(name: ":1.2", credentials: nil, sandbox: nil)

    @Test("is for what the same caller asks for next, once, and not for ever")
    func life() async throws {
        try await onLoop {
            let token = OfferedToken()
            #expect(token.take(by: Self.one) == "")
            token.keep("abc", of: Self.one)
            #expect(token.take(by: Self.other) == "")
            #expect(token.take(by: Self.one) == "abc")
            #expect(token.take(by: Self.one) == "")
            token.keep("abc", of: Self.one, at: 0)
            #expect(token.take(by: Self.one, at: 10_000_001) == "")
            for text in ["", "ä", "a\nb", String(repeating: "a", count: 257)] {
                token.keep(text, of: Self.one)
                #expect(token.take(by: Self.one) == "")
            }
        }
    }
}
