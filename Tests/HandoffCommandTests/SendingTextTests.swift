// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffCore
import HandoffStatus
import Testing

@testable import HandoffCommand

@Suite("What is shown of sending and muting")
struct SendingTextTests {
    private static func device(
        _ digit: Character, _ name: String, isConnected: Bool, _ others: [String: Value] = [:]
    ) throws -> KnownDevice {
        let id = String(repeating: digit, count: 64)
        let properties: [String: Value] = [
            "Name": .string(name), "Paired": .boolean(true), "Connected": .boolean(isConnected),
        ]
        return KnownDevice(
            try ObjectPath("/org/example/Handoff/Bridge/devices/\(id)"), id: id,
            properties.merging(others) { $1 })
    }

    @Test("who names no device means the only one that is connected, if there is one and no other")
    func onlyConnected() throws {
        let (lap, pad) = (
            try Self.device("a", "lap", isConnected: true), try Self.device("b", "pad", isConnected: true)
        )
        let away = try Self.device("c", "away", isConnected: false)
        #expect(try [away, lap].onlyConnected().name == "lap")
        #expect(try [away].onlyConnected().name == "away", "what is sent waits for it")
        let other = try Self.device("d", "other", isConnected: false)
        for several in [[], [away, other]] {
            #expect(#expect(throws: CommandFailure.self) { try several.onlyConnected() }?.status == 3)
        }
        let failure = #expect(throws: CommandFailure.self) { try [lap, away, pad].onlyConnected() }
        #expect(failure?.status == 2)
        for (text, isThere) in [("lap", true), ("pad", true), ("away", false)] {
            #expect(failure?.message.contains(text) == isThere)
        }
    }

    @Test("a muted device says so")
    func muted() throws {
        let device = try Self.device(
            "a", "lap", isConnected: true, ["Muted": .boolean(true), "SendError": .string("Too old.")])
        #expect(device.state(among: []) == "paired, connected, muted")
        #expect(device.json.text.contains(#""muted":true"#))
        #expect(device.json.text.contains(#""sendError":"Too old.""#))
    }

    @Test("what was sent is marked before anything that somebody else chose")
    func marks() throws {
        func offer(_ id: Character, _ title: String, isInvited: Bool) throws -> RemoteOffer {
            let (device, id) = (String(repeating: "a", count: 64), String(repeating: id, count: 32))
            let path = try ObjectPath("/org/example/Handoff/remote/\(device)/\(id)")
            let properties: [String: Value] = ["Title": .string(title), "Invited": .boolean(isInvited)]
            return try #require(RemoteOffer(path, ["org.example.Handoff.RemoteActivity": properties]))
        }
        let offers = [
            try offer("1", "Mine", isInvited: true), try offer("2", "sent  sent", isInvited: false),
        ]
        let cells = offers.table(at: 0).lines.map { $0.split(separator: " ") }
        #expect(cells.map { $0[1] } == ["SENT", "sent", "-"])
        #expect(offers[0].json.text.contains(#""invited":true"#))
        var changed = offers[0]
        changed.update(["Invited": .boolean(false)])
        #expect(!changed.isInvited)
    }

    @Test("what is hidden and was sent says so")
    func hidden() {
        let offers = [true, false].map {
            HiddenOffer([
                "Title": .string("A letter"), "Invited": .boolean($0), "Reason": .string("Nothing."),
            ])
        }
        #expect(offers.lines(at: 0).filter { $0.contains("sent to this device") }.count == 1)
        #expect(offers.map { $0.json.text.contains(#""invited":true"#) } == [true, false])
    }
}
