// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffSettingsModel
import HandoffStatus
import Platform
import Testing

@Suite("What is said of an offer by who knows the applications here")
struct OfferWordsTests {
    @Test("of a film that nothing here plays it is said what to install")
    func noPlayer() throws {
        let text = "No media player that Handoff knows is installed. Install mpv, VLC or Celluloid."
        for (reason, shown) in [
            (text, text), ("x", "No application here continues it. Install one that does, or start it."),
        ] {
            let hidden: Value = .properties(["Title": .string("A film"), "Reason": .string(reason)])
            let more: [String: Value] = ["HiddenOffers": try .array(of: "a{sv}", [hidden])]
            let page = Samples.content(Samples.report(Samples.broker(more: more))).continuing
            #expect(page.hidden.map(\.reason) == [shown])
        }
    }

    @Test("what stands for other applications is called like the one that it takes, if that is known")
    func standIns() throws {
        let media = Vendor.id("Media")
        let browser = Vendor.id("Browser")
        let known = ["vlc": "VLC", "firefox": "Firefox", media: "Media player", browser: "Web browser"]
        let names = ApplicationNames { known[$0] }
        for (handler, origin, name) in [
            (media, "vlc", "VLC"), (media, "mpv", "Media player"), (browser, "firefox", "Web browser"),
            ("vlc", "mpv", "VLC"), ("mpv", "vlc", "mpv"),
        ] {
            let properties: [String: Value] = [
                "ApplicationId": .string(origin), "Handlers": .strings([handler]),
            ]
            let objects = ["org.example.Handoff.RemoteActivity": properties]
            let offer = try #require(RemoteOffer(try Samples.offerPath(), objects))
            #expect(names.name(of: handler, continuing: offer) == name)
        }
    }
}
