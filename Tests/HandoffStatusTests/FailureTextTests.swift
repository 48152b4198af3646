// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffCore
import HandoffInterfaces
import HandoffStatus
import Platform
import Testing

@Suite("What failures and offers say to the user of a desktop")
struct FailureTextTests {
    @Test("each kind of failure says what went wrong in a sentence that is none of the daemon's")
    func summaries() {
        for code in HandoffFailure.Code.allCases.map(Optional.some) + [nil] {
            let text = FailureText(code, "The daemon says this.")
            #expect(text.summary.hasSuffix(".") && !text.summary.contains("daemon"))
        }
    }

    @Test("the daemon's own words stand behind it only where they say more, and are fit to be shown")
    func details() {
        let failed = FailureText(
            DBusError(HandoffFailure.Code.applicationFailed.errorName, "No\nroom\u{202E}"))
        #expect(failed.summary == "The application could not do it.")
        #expect(failed.detail.hasPrefix("No") && !failed.detail.contains { $0.isNewline || $0 == "\u{202E}" })
        #expect(FailureText(.disabled, "Handoff is switched off.").detail.isEmpty)
        #expect(FailureText(errorName: "not a name", "Why").detail == "Why")
        #expect(FailureText(errorName: "", "").detail.isEmpty)
        let name = HandoffFailure.Code.notPaired.errorName.text
        #expect(FailureText(errorName: name, "x") == FailureText(.notPaired, "y"))
    }

    @Test(
        "what a daemon says of a program that has crashed is quoted, since applications and devices may say the same"
    )
    func crashed() {
        let failure = HandoffFailure.crashed("Okular")
        #expect(failure.isCrash)
        #expect(
            FailureText(failure.code, failure.message).line
                == "The application could not do it. “Okular has crashed. Start it and try again.”")
    }

    @Test("the application that continues an offer stands for it before the one that it comes from")
    func applications() throws {
        let device = String(repeating: "d", count: 64)
        let path = try ObjectPath(
            "/org/example/Handoff/remote/\(device)/\(String(repeating: "0", count: 32))")
        func applications(_ handlers: [String], _ origin: String) -> [String]? {
            RemoteOffer(
                path,
                [
                    "org.example.Handoff.RemoteActivity": [
                        "Handlers": .strings(handlers), "ApplicationId": .string(origin),
                    ]
                ])?.applications
        }
        #expect(applications(["a", "b"], "c") == ["a", "c"])
        #expect(applications(["a"], "a") == ["a"])
        #expect(applications([], "c") == ["c"])
        #expect(applications([], "") == [])
        // What stands for others continues it in the same application, if that is here; a page goes to the user's browser.
        #expect(applications([Vendor.id("Media")], "vlc") == ["vlc", Vendor.id("Media")])
        #expect(
            applications([Vendor.id("Browser")], "firefox") == [
                Vendor.id("Browser"), "firefox",
            ])
    }

    @Test("a device without a name is called by the beginning of its id")
    func devices() {
        let id = "a1b2c3d4e5f60718"
        #expect(ChosenText.device(name: "", id: id).shown == "a1b2c3d4")
        // An id can be sought that begins with the digits of a code.
        #expect(ChosenText.device(name: "", id: "01234567abcdef01").shown == "########")
        #expect(ChosenText.device(name: "desk", id: id).shown == "desk")
        // Nor is what cannot be seen a name.
        #expect(ChosenText.device(name: "\u{200B}\u{2060}", id: id).shown == "a1b2c3d4")
    }
}
