// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffSettingsModel
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
        #expect(page.notifyOffers == .arrival)
        #expect(page.excluded.isEmpty && page.folders.isEmpty && page.adapters.isEmpty)
        #expect(page.documentsFolder.isEmpty)
        #expect(page.deviceName == "lap")
        #expect(!Samples.content(StatusReport()).preferences.isAvailable)
    }

    @Test("what the user has chosen is shown, and values of another type are not")
    func chosen() throws {
        let folders = try Value.dictionary(
            key: "s", value: "s", [(.string("Work"), .string("/w")), (.string("Cloud"), .string("/c"))])
        let shown = page([
            "NotifyOffers": .string("never"), "NotifyContinued": .boolean(false),
            "ExcludedApplications": .strings(["z.unknown", "org.example.Editor"]), "SharedFolders": folders,
            "DocumentsFolder": .string("~/Handed"),
        ])
        #expect(shown.notifyOffers == .never)
        #expect(!shown.notifyContinued)
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

    @Test("a change writes the whole of a preference, with what is there already")
    func changes() throws {
        let folders = try Value.dictionary(key: "s", value: "s", [(.string("Work"), .string("/w"))])
        let page = page(["ExcludedApplications": .strings(["b", "a"]), "SharedFolders": folders])
        #expect(
            page.excluding("c", true) == .setPreference("ExcludedApplications", .strings(["a", "b", "c"])))
        #expect(page.excluding("a", true) == .setPreference("ExcludedApplications", .strings(["a", "b"])))
        #expect(page.excluding("a", false) == .setPreference("ExcludedApplications", .strings(["b"])))
        #expect(page.sharing("Cloud", "/c") == .setSharedFolders(["Work": "/w", "Cloud": "/c"]))
        #expect(page.sharing("Work", nil) == .setSharedFolders([:]))
    }

    @Test("an adapter is on unless it was switched off")
    func adapters() {
        var state = WindowState(adapters: [.init(id: "media", name: "Media"), .init(id: "web", name: "Web")])
        state.take(Samples.report(Samples.broker(preferences: ["DisabledAdapters": .strings(["web"])])))
        let page = WindowContent(state, at: 0, Samples.names).preferences
        #expect(page.adapters.map(\.isOn) == [true, false])
        #expect(
            page.switching("media", false) == .setPreference("DisabledAdapters", .strings(["media", "web"])))
        #expect(page.switching("web", true) == .setPreference("DisabledAdapters", .strings([])))
    }
}
