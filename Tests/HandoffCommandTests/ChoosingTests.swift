// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffCore
import HandoffStatus
import MainLoop
import Platform
import Testing

@testable import HandoffCommand

@Suite("Choosing by id or name")
struct ChoosingTests {
    private static let (deviceA, deviceB) = (
        String(repeating: "a", count: 64), String(repeating: "b", count: 64)
    )

    private static func offer(_ device: String, _ id: String, _ properties: [String: Value] = [:]) throws
        -> RemoteOffer
    {
        let path = try ObjectPath("/org/example/Handoff/remote/\(device)/\(id)")
        return try #require(RemoteOffer(path, ["org.example.Handoff.RemoteActivity": properties]))
    }

    private static func device(_ id: String, _ name: String) throws -> KnownDevice {
        let path = try ObjectPath("/org/example/Handoff/Bridge/devices/\(id)")
        return KnownDevice(path, id: id, ["Name": .string(name), "Paired": .boolean(true)])
    }

    @Test("an offer is chosen by any unambiguous beginning of its id, in either case")
    func offers() throws {
        let offers = [try Self.offer(Self.deviceA, "12ab"), try Self.offer(Self.deviceB, "13ab")]
        #expect(try offers.choose("12").id == "12ab")
        #expect(try offers.choose("13AB").id == "13ab")
        #expect(try offers.choose("b/1").id == "13ab")
    }

    @Test("an ambiguous id is a wrong command line that lists the candidates")
    func ambiguous() throws {
        let offers = [
            try Self.offer(Self.deviceA, "12ab", ["Title": .string("One")]),
            try Self.offer(Self.deviceB, "12ab", ["Title": .string("Two")]),
            try Self.offer(Self.deviceB, "3"),
        ]
        let failure = #expect(throws: CommandFailure.self) { try offers.choose("12") }
        #expect(failure?.status == 2)
        for part in ["One", "Two", "aaaaaaaa/12ab", "bbbbbbbb/12ab"] {
            #expect(failure?.message.contains(part) == true)
        }
        #expect(try offers.choose("aaaaaaaa/12ab").title == "One")
    }

    @Test("an id that nobody offers fails; what is no id is a wrong command line")
    func missing() throws {
        let offers = [try Self.offer(Self.deviceA, "12ab")]
        #expect(#expect(throws: CommandFailure.self) { try offers.choose("ff") }?.status == 3)
        for text in ["", "x", "a/", "/a", "a/b/c", "-1"] {
            #expect(#expect(throws: CommandFailure.self) { try offers.choose(text) }?.status == 2)
        }
    }

    @Test("a device that calls itself the beginning of another's id is not taken for that")
    func namedLikeAnID() throws {
        let (start, whole) = (String(Self.deviceA.prefix(8)), Self.deviceA)
        let devices = try [Self.device(Self.deviceA, "lap"), Self.device(Self.deviceB, start)]
        #expect(#expect(throws: CommandFailure.self) { try devices.choose(start) }?.status == 2)
        #expect(try devices.choose(whole).name == "lap")
        #expect(try devices.choose(Self.deviceB).name == start)
        let impostor = try [Self.device(Self.deviceA, "lap"), Self.device(Self.deviceB, whole)]
        #expect(try impostor.choose(whole).name == "lap")
        let short = try [Self.device(Self.deviceA, "lap"), Self.device(Self.deviceB, "a")]
        #expect(try short.choose("a").id == Self.deviceB, "a short name is no id")
    }

    @Test("an offer's properties may be missing or of another type")
    func oddProperties() throws {
        let offer = try Self.offer(
            Self.deviceA, "1", ["Title": .byte(1), "Handlers": .string("x"), "Progress": .double(.nan)])
        #expect((offer.title, offer.handlers, offer.progress) == ("", [], nil))
        #expect(offer.device.shown == "aaaaaaaa")
        #expect(
            RemoteOffer("/org/example/Handoff/remote/a", ["org.example.Handoff.RemoteActivity": [:]]) == nil)
        #expect(RemoteOffer("/org/example/Handoff/remote/a/b", [:]) == nil)
    }

    @Test("what an offer continues in is an application, or what people call one")
    func continuesIn() throws {
        let handlers = ["org.example.Notes", Vendor.id("Media")]
        let offer = try Self.offer(
            Self.deviceA, "1", ["Handlers": .strings(handlers), "HandlersToStart": .strings(handlers)])
        #expect(offer.continuesIn == "org.example.Notes (not running), the media player here")
    }

    @Test("a device is chosen by its exact name before the beginning of its id")
    func devices() throws {
        let devices = [try Self.device(Self.deviceA, "b"), try Self.device(Self.deviceB, "lap")]
        #expect(try devices.choose("b").id == Self.deviceA)
        #expect(try devices.choose("bb").id == Self.deviceB)
        #expect(try devices.choose("lap").id == Self.deviceB)
        for text in ["", "la", "c"] {
            #expect(#expect(throws: CommandFailure.self) { try devices.choose(text) }?.status == 3)
        }
        let twins = [try Self.device(Self.deviceA, "x"), try Self.device(Self.deviceB, "x")]
        #expect(#expect(throws: CommandFailure.self) { try twins.choose("x") }?.status == 2)
    }

    @Test("the table says who introduces a device or has unpaired one, by names in quotation marks")
    func introductions() throws {
        let ids: Value = .strings([Self.deviceB])
        let path = try ObjectPath("/org/example/Handoff/Bridge/devices/\(Self.deviceA)")
        let lap = try Self.device(Self.deviceB, "lap")
        func state(_ properties: [String: Value], among devices: [KnownDevice]) -> String {
            KnownDevice(path, id: Self.deviceA, properties).state(among: devices)
        }
        let offered: [String: Value] = ["IntroducedBy": ids, "IntroductionState": .string("offered")]
        #expect(state(offered, among: [lap]) == "introduced by “lap”, not accepted here")
        #expect(state(offered, among: []) == "introduced by “bbbbbbbb”, not accepted here")
        let declined = offered.merging(["IntroductionState": .string("declined")]) { $1 }
        #expect(state(declined, among: [lap]) == "introduced by “lap”, declined here")
        let accepted: [String: Value] = [
            "Paired": .boolean(true), "IntroductionState": .string("accepted"),
        ]
        #expect(state(accepted, among: [lap]) == "accepted here, not there yet")
        let retracted: [String: Value] = ["Paired": .boolean(true), "RetractedBy": ids]
        #expect(state(retracted, among: [lap]) == "paired, not connected, unpaired by the user of “lap”")
    }

    @Test("without an id, of several offers the user chooses, or names one")
    @MainLoop
    func withoutID() throws {
        let (one, other) = (
            try Self.offer(Self.deviceA, "12ab", ["Title": .string("One")]),
            try Self.offer(Self.deviceB, "13ab", ["Title": .string("1  Two")])
        )
        let failure = [one, other].unnamed
        #expect(failure.status == 2 && failure.message.contains("12ab") && failure.message.contains("13ab"))
        let choice = OfferChoice(among: [one, other])
        // A number is never what another device has chosen.
        #expect(choice.lines().map { $0.prefix(5) } == ["  1  ", "  2  "])
        #expect(choice.offer(numbered: " 2 ")?.id == "13ab")
        for text in [
            "", "0", "3", "x", "-1", "1 2", "9223372036854775807", "-9223372036854775808",
            "99999999999999999999",
        ] {
            #expect(choice.offer(numbered: text) == nil)
        }
    }

    @Test(
        "nothing that another device has chosen begins a line of the question, however narrow the terminal is"
    )
    @MainLoop
    func narrow() throws {
        let titles = [
            String(repeating: "全", count: 150), String(repeating: "- ", count: 100) + "2 'Two'", "e\u{301}",
        ]
        let offers = try titles.enumerated().map { index, title in
            try Self.offer(
                Self.deviceA, "\(index)ab", ["Title": .string(title), "DeviceName": .string(title)])
        }
        let choice = OfferChoice(among: offers)
        for columns in [20, 40, 80, 81, 200] {
            #expect(
                choice.lines(within: columns).allSatisfy { $0.displayWidth <= columns && !$0.contains("\n") })
        }
        #expect(choice.lines(within: 80).allSatisfy { $0.hasSuffix("”") })
    }
}
