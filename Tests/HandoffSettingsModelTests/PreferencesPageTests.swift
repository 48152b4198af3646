// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffSettingsModel
import HandoffStatus
import Testing

/// The page on which people choose.
struct PreferencesPageTests {
    private func page(_ preferences: [String: Value]) -> PreferencesPage {
        Samples.content(Samples.report(Samples.broker(preferences: preferences))).preferences
    }

    @Test("a preference that the broker does not have shows its default")
    func defaults() {
        let page = page([:])
        #expect(page.isAvailable && page.isEnabled && page.notifyContinued)
        #expect(page.sharesAddresses && page.introduces && page.sharesOpen)
        #expect(page.notifyOffers == .arrival)
        #expect(page.excluded.isEmpty && page.folders.isEmpty && page.adapters.isEmpty)
        #expect(page.documentsFolder.isEmpty)
        #expect(Samples.content(Samples.report()).devices.deviceName == "lap")
        #expect(!Samples.content(StatusReport()).preferences.isAvailable)
    }

    @Test("what the user has chosen is shown, and values of another type are not")
    func chosen() throws {
        let folders = try Value.dictionary(
            key: "s", value: "s", [(.string("Work"), .string("/w")), (.string("Cloud"), .string("/c"))])
        let shown = page([
            "NotifyOffers": .string("never"), "NotifyContinued": .boolean(false),
            "ExcludedApplications": .strings(["z.unknown", "org.example.Editor"]), "SharedFolders": folders,
            "DocumentsFolder": .string("~/Handed"), "ShareAddresses": .boolean(false),
            "Introduces": .boolean(false), "ShareOpenActivities": .boolean(false),
        ])
        #expect(shown.notifyOffers == .never)
        #expect(!shown.notifyContinued && !shown.sharesAddresses && !shown.introduces && !shown.sharesOpen)
        #expect(PreferencesPage.setSharesOpen(true) == .setPreference("ShareOpenActivities", .boolean(true)))
        #expect(PreferencesPage.setIntroduces(true) == .setPreference("Introduces", .boolean(true)))
        #expect(shown.excluded.map(\.name) == ["Editor", "z.unknown"])
        #expect(shown.folders.map(\.name) == ["Cloud", "Work"])
        #expect(shown.documentsFolder == "~/Handed")
        let odd = page([
            "NotifyOffers": .string("sometimes"), "ExcludedApplications": .int32(3),
            "SharedFolders": .strings(["x"]),
        ])
        #expect(odd.notifyOffers == .arrival)
        #expect(odd.excluded.isEmpty && odd.folders.isEmpty)
    }

    @Test("the choice about the clipboard says what it means, and that nothing reaches it where that is so")
    func clipboard() {
        #expect(page([:]).clipboard == .ask && page(["Clipboard": .string("x")]).clipboard == .ask)
        for choice in ClipboardMode.allCases {
            let preferences: [String: Value] = ["Clipboard": .string(choice.rawValue)]
            let shown = page(preferences)
            #expect(shown.clipboard == choice && shown.reachesClipboard)
            #expect(
                PreferencesPage.setClipboard(choice) == .setPreference("Clipboard", .string(choice.rawValue)))
            #expect(shown.clipboardMeaning.contains("mark as a secret never leaves") == (choice != .off))
            let report = Samples.report(Samples.broker(preferences: preferences, desktop: ""))
            let unreached = Samples.content(report).preferences
            #expect(
                unreached.clipboardMeaning.hasSuffix("The clipboard of this desktop cannot be reached")
                    == (choice != .off))
        }
        #expect(ClipboardMode.allCases.map(\.rawValue) == ["ask", "follow", "off"])
        #expect(page(["Clipboard": .string("follow")]).clipboardMeaning.contains("For two minutes"))
    }

    @Test("a change of a list is that of one entry, and applies to what is there when it is made")
    func changes() throws {
        #expect(try list(["b", "a"], PreferencesPage.excluding("c", true)) == ["a", "b", "c"])
        #expect(try list(["b", "a"], PreferencesPage.excluding("a", true)) == ["a", "b"])
        // One after the other, neither brings back what the other has taken away.
        #expect(
            try list(
                ["b", "a"], PreferencesPage.excluding("a", false), PreferencesPage.excluding("b", false))
                == [])
        #expect(
            try folders(
                ["Work": "/w"], PreferencesPage.sharing("Cloud", "/c"), PreferencesPage.sharing("Work", nil))
                == ["Cloud": "/c"])
    }

    /// What becomes of `entries` when these changes are made.
    private func list(_ entries: [String], _ requests: Request...) throws -> [String] {
        try requests.reduce(entries) { entries, request in
            guard case .changeList(let change) = request else { throw OtherRequest() }
            return change.applied(to: entries)
        }
    }

    private func folders(_ folders: [String: String], _ requests: Request...) throws -> [String: String] {
        try requests.reduce(folders) { folders, request in
            guard case .changeFolders(let change) = request else { throw OtherRequest() }
            return change.applied(to: folders)
        }
    }

    private struct OtherRequest: Error {}

    @Test("an adapter is on unless it was switched off")
    func adapters() throws {
        var state = WindowState()
        state.take([
            .init(id: "web", name: "Web", applications: []),
            .init(id: "media", name: "Media", applications: []),
        ])
        state.take(Samples.report(Samples.broker(preferences: ["DisabledAdapters": .strings(["web"])])))
        let page = WindowContent(state, at: 0, Samples.names).preferences
        #expect(page.adapters.map(\.isOn) == [true, false])
        // Names of adapters that are not installed stay.
        #expect(
            try list(["other", "web"], PreferencesPage.switching("media", false)) == [
                "media", "other", "web",
            ])
        #expect(try list(["other", "web"], PreferencesPage.switching("web", true)) == ["other"])
        guard case .changeList(let change) = PreferencesPage.switching("web", true) else {
            throw OtherRequest()
        }
        #expect(change.preference == "DisabledAdapters")
    }
}
