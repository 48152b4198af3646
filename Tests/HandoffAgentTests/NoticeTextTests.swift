// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import HandoffInterfaces
import HandoffStatus
import Testing

@testable import HandoffAgent

@Suite("What notifications say")
struct NoticeTextTests {
    /// What others may choose to have their text look like ours.
    private static let hostile = [
        "<b>bold</b> <a href=\"https://x\">y</a> &amp; <img src='x'/>", "“quoted” \"quoted\" ‘quoted’",
        "one\ntwo\r\nthree\u{2028}four\u{85}", "\u{202E}desrever\u{2066}",
        String(repeating: "long ", count: 2000),
        "a" + String(repeating: "\u{301}", count: 10_000), "\u{0}\u{1B}[31m", "123 456 They match",
    ]
    private static let ids = (
        device: String(repeating: "a", count: 64), path: "/org/example/Handoff/remote/a/b"
    )

    private static func offer(_ text: String) -> ShownOffer {
        ShownOffer(path: ids.path, deviceID: ids.device, deviceName: text, title: text, applicationID: text)
    }

    private static func device(_ text: String, _ stage: Pairing.Stage) -> PairingNotices.Device {
        PairingNotices.Device(id: ids.device, name: text, stage: stage, code: "123 456")
    }

    private static func introduction(_ text: String, _ count: Int) -> IntroductionNotices.Introduction {
        let device = IntroductionNotices.Device(id: ids.device, name: text)
        return .init(introducer: device, devices: Array(repeating: device, count: count))
    }

    private static func known(_ name: String) -> KnownDevice {
        KnownDevice("/device", id: ids.device, ["Name": .string(name)])
    }

    private static func run(_ text: String) -> ContinuedAllNotices.Run {
        ContinuedAllNotices.Run(
            id: "/run", total: 6, done: 5, isOver: true, deviceID: ids.device, deviceName: text,
            failure: .init(message: "It has failed.", detail: text, title: text, applicationID: text))
    }

    private static func all(_ text: String) throws -> [Notice] {
        let failure = ProgressNotices.Failure(
            offer: offer(text), message: text, detail: text, canTryAgain: true)
        return [
            try #require(Notice.question(offer(text), in: .arrival)), .pairing(device(text, .waiting)),
            .comparing(device(text, .comparing)),
            .continued(
                ContinuedNotices.Continued(
                    deviceID: ids.device, deviceName: text, applicationID: text, title: text)),
            .continuedAll(run(text)),
            try #require(Notice.progress(offer(text))), try #require(Notice.failure(failure)),
            .noWindow(text), .notSent(to: known(text).label, FailureText(.applicationFailed, text)),
            .introduced(introduction(text, 1)), .introduced(introduction(text, 61)),
            .retracted([known(text)], by: known(text)),
            .retracted([known(text), known(text)], by: known(text)),
            .unpaired(by: EndedPairing(id: ids.device, name: text)),
            .pasted(ClipboardSummary([.text]), from: known(text).label),
            .notPasted(from: known(text).label, FailureText(.applicationFailed, text)),
            .copying(PasteNotices.Sent(deviceID: ids.device, kinds: [.text]), from: known(text).label),
        ]
    }

    @Test("whatever others choose stays in its line, is short, and turns no text around", arguments: hostile)
    func contained(_ text: String) throws {
        for notice in try Self.all(text) {
            for line in [notice.title] + notice.lines {
                #expect(line.count < 300)
                #expect(line.unicodeScalars.allSatisfy { !PeerText.isControl($0) })
                #expect(line.unicodeScalars.count < 2000)
            }
        }
    }

    @Test("a title cannot leave its quotation marks", arguments: hostile)
    func quotation(_ text: String) throws {
        for notice in try Self.all(text) {
            #expect(notice.title.count { "“”".contains($0) } <= 2)
        }
    }

    @Test("where a code is compared it stands first, alone, and no name passes for one", arguments: hostile)
    func code(_ text: String) {
        let notice = Notice.comparing(Self.device(text, .comparing))
        #expect(notice.title == "123 456")
        #expect(notice.lines.count == 2)
        #expect(notice.lines.joined().count { $0.isNumber } < 6)
        #expect(notice.press == nil)
    }

    @Test("for a server that knows markup nothing of others is markup", arguments: hostile)
    func escaped(_ text: String) throws {
        for notice in try Self.all(text) {
            let post = NoticePost(notice, nil, replacing: nil)
            let body = PlainNotice(post, replacing: 0, ["body-markup", "actions"]).body
            #expect(!body.contains { "<>\"'".contains($0) })
            #expect(
                body.split(separator: "&").dropFirst().allSatisfy { part in
                    ["amp;", "lt;", "gt;", "quot;", "#39;"].contains { part.hasPrefix($0) }
                })
            #expect(body.split(separator: "\n", omittingEmptySubsequences: false).count == notice.lines.count)
        }
    }

    @Test("every notification can be sent, whatever is in it", arguments: hostile)
    func sendable(_ text: String) throws {
        for notice in try Self.all(text) {
            let post = NoticePost(
                notice, ApplicationLook(name: text, icon: .file("/" + text)), replacing: nil)
            let message = try Message.call(to: "a.b", "/", "a.b", "c")
            var writer = MessageWriter(message)
            try? PlainNotice(post, replacing: 0, ["actions"]).write(to: &writer)
            _ = try DesktopNotices.properties(of: post)
        }
    }

    @Test("one introduced device can be answered at once, several are chosen from in the window")
    func introduced() {
        let one = Notice.introduced(Self.introduction("pad", 1))
        #expect(one.title == "Pair with “pad”?")
        #expect(one.lines == ["“pad” says that it is one of your devices."])
        #expect(
            one.buttons.map(\.press) == [
                .acceptIntroduction(Self.ids.device), .declineIntroduction(Self.ids.device),
            ])
        let many = Notice.introduced(Self.introduction("pad", 7))
        #expect(many.title == "“pad” knows 7 more of your devices")
        #expect(many.lines == Array(repeating: "“pad”", count: 5) + ["…"])
        #expect(many.buttons.map(\.press) == [.openWindow])
        #expect(many.slot == one.slot)
    }

    @Test("of several that were continued together it says how many, why the first was not, and shows them")
    func continuedAll() {
        let failed = Notice.continuedAll(Self.run("old"))
        #expect(failed.title == "5 of 6 continued" && failed.weight == .normal)
        #expect(failed.lines == ["It has failed.", "“old”", "“old”", "old"])
        #expect(failed.buttons == [.init(label: "Show", press: .openEverything(Self.ids.device))])
        let all = Notice.continuedAll(
            .init(id: "/run", total: 2, done: 2, isOver: true, deviceID: Self.ids.device, deviceName: "old"))
        #expect(all.title == "2 of 2 continued" && all.lines == ["old"] && all.weight == .quiet)
    }

    @Test("of several that were continued together the first that failed and was not cancelled is told of")
    func continuedAllOf() throws {
        let device = try HandoffNames.remote.appending(Self.ids.device)
        let states = [("failed", "Cancelled", "a"), ("continued", "", "b"), ("failed", "NoApplication", "c")]
        let results = try states.map { state, error, title in
            Value.properties([
                "Activity": .objectPath(try device.appending(title)), "State": .string(state),
                "Title": .string(title), "DeviceName": .string("desk"),
                "ErrorName": .string(error.isEmpty ? "" : "org.example.Handoff.Error.\(error)"),
                "Message": .string(error.isEmpty ? "" : "Okular is not installed here."),
            ])
        }
        let run = try #require(
            ContinueAllRun(
                "/org/example/Handoff/continuing/1",
                [
                    "org.example.Handoff.ContinueAll": [
                        "Total": .uint32(3), "Done": .uint32(1), "Failed": .uint32(2),
                        "Results": try .array(of: "a{sv}", results),
                    ]
                ]))
        let shown = ContinuedAllNotices.Run(run)
        #expect(shown.isOver && shown.isCancelled && shown.failure?.title == "c")
        #expect(shown.deviceID == Self.ids.device && shown.deviceName == "desk")
        #expect(shown.failure?.detail == "Okular is not installed here.")
    }

    @Test("of a peer that others have unpaired the user says whether it stays")
    func retracted() {
        let notice = Notice.retracted([Self.known("old")], by: Self.known("desk"))
        #expect(notice.title == "Unpair “old” here too?")
        #expect(notice.lines == ["“desk” no longer counts it among your devices."])
        #expect(notice.buttons.map(\.press) == [.unpair(Self.ids.device), .keep(Self.ids.device)])
    }

    @Test("who has ended the pairing is named, with what to do if that was a mistake")
    func unpaired() {
        let notice = Notice.unpaired(by: EndedPairing(id: Self.ids.device, name: "desk"))
        #expect(notice.title == "“desk” is no longer paired")
        #expect(notice.lines.count == 1 && notice.lines[0].hasSuffix("pair them again."))
        #expect(notice.press == .openWindow && notice.buttons.isEmpty)
    }

    @Test("what was pasted is told by what it is, and why nothing was by what to do")
    func pasted() {
        let about: [String: Value] = [
            "Types": .strings(["text/plain", "text/html"]), "Sizes": .numbers([214, 400]),
            "Characters": .uint64(214),
        ]
        let label = Self.known("Laptop").label
        let notice = Notice.pasted(ClipboardSummary(about), from: label)
        #expect(notice.title == "Pasted from “Laptop”" && notice.weight == .quiet && notice.presses.isEmpty)
        #expect(notice.lines == ["In the clipboard now: Text, 214 characters"])
        let failure = Notice.notPasted(from: label, .pasting(DBusError(.accessDenied, "It is locked.")))
        #expect(failure.title == "Nothing was pasted from “Laptop”" && failure.weight == .normal)
        #expect(
            failure.lines == [
                "One of the devices is locked, or this one is muted there. Unlock or unmute it, then try again."
            ])
        // One takes the place of the other.
        #expect(failure.slot == notice.slot)
    }

    @Test("what was sent to be copied is copied by its button, and by nothing else")
    func copying() {
        func notice(_ kinds: [ClipboardKind]) -> Notice {
            .copying(
                PasteNotices.Sent(deviceID: Self.ids.device, kinds: kinds), from: Self.known("Laptop").label)
        }
        let text = notice([.text, .html])
        #expect(text.title == "“Laptop” has sent you text to copy")
        #expect(text.buttons == [.init(label: "Copy", press: .paste(Self.ids.device))] && text.press == nil)
        #expect(notice([.html]).title == text.title && notice([.image, .text]).title == text.title)
        #expect(notice([.image]).title == "“Laptop” has sent you an image to copy")
        #expect(notice([.image]).slot == text.slot)
    }

    @Test("without a title the application is named, and without a name the device's id begins the line")
    func unnamed() throws {
        var offer = Self.offer("")
        offer.applicationID = "com.example.editor"
        let notice = try #require(Notice.question(offer, in: .arrival))
        #expect(notice.title == "Continue “com.example.editor”?")
        #expect(notice.lines == ["aaaaaaaa"])
    }
}
