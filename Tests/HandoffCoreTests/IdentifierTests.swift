// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

@Suite("Identifiers")
struct IdentifierTests {
    @Test("identifiers are read back from what they are written as")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let activity = ActivityID(using: &generator)
            #expect(ActivityID(activity.description) == activity)
            #expect(activity.description.utf8.count == 32)
            let continuation = ContinuationID(using: &generator)
            #expect(ContinuationID(continuation.description) == continuation)
            let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let device = try #require(DeviceID(bytes: bytes))
            #expect(device.bytes == bytes)
            #expect(DeviceID(device.description) == device)
        }
    }

    @Test("the bytes of an identifier are written in order, with leading zeros")
    func digits() throws {
        let bytes: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0xDE, 0xAD, 0xBE, 0xEF]
        #expect(try #require(ActivityID(bytes: bytes)).description == "000102030405060700000000deadbeef")
    }

    @Test(
        "anything but 32 lower-case hexadecimal digits is no identifier",
        arguments: [
            "", "0", "000102030405060700000000DEADBEEF", "000102030405060700000000deadbee",
            "000102030405060700000000deadbeef0", "000102030405060700000000deadbeeg",
            "+00102030405060700000000deadbeef", "00010203040506070000000 deadbeef",
            "０001020304050607000000deadbe",
        ])
    func refusals(text: String) {
        #expect(ActivityID(text) == nil)
        #expect(ContinuationID(text) == nil)
        #expect(DeviceID(text) == nil)
    }

    @Test("a wrong number of bytes is no identifier", arguments: [0, 15, 17, 31, 33])
    func wrongLengths(count: Int) {
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(ActivityID(bytes: bytes) == nil)
        #expect(ContinuationID(bytes: bytes) == nil)
        #expect(DeviceID(bytes: bytes) == nil)
    }

    @Test("devices are ordered as their bytes are")
    func order() throws {
        var low = [UInt8](repeating: 0, count: 32)
        var high = low
        (low[31], high[0]) = (255, 1)
        #expect(try #require(DeviceID(bytes: low)) < #require(DeviceID(bytes: high)))
    }

    @Test(
        "an activity type is any non-empty text of at most 255 bytes without control characters",
        arguments: [
            ("com.example.notes.edit", true), ("x", true), ("größe", true), ("two words", true),
            (String(repeating: "a", count: 255), true), (String(repeating: "a", count: 256), false),
            (String(repeating: "ä", count: 128), false), ("", false), ("a\nb", false), ("a\u{0}", false),
            ("\u{85}", false), ("\u{7F}", false), ("com.\u{202E}tide", false), ("com.\u{2028}edit", false),
            ("com.\u{2029}edit", false), ("com.\u{2066}edit", false), ("com.\u{200F}edit", false),
            ("com.\u{61C}edit", false),
        ])
    func activityTypes(text: String, isValid: Bool) {
        if isValid {
            #expect((try? ActivityType(text))?.description == text)
        } else {
            #expect(code { _ = try ActivityType(text) } == .invalidArguments)
        }
    }

    @Test(
        "only types in reverse-DNS form count as recommended",
        arguments: [
            ("com.example.notes.edit", true), ("org.x_y.a-1", true), ("notes", false), ("com..edit", false),
            (".com.edit", false), ("com.edit.", false), ("com.exämple", false), ("1com.edit", false),
        ])
    func reverseDNS(text: String, isReverseDNS: Bool) throws {
        #expect(try ActivityType(text).isReverseDNS == isReverseDNS)
    }

    @Test(
        "an application id is what can name a desktop entry",
        arguments: [
            ("com.example.Notes", true), ("firefox-esr", true), ("a_b", true),
            (String(repeating: "a", count: 255), true), (String(repeating: "a", count: 256), false),
            ("", false),
            (".hidden", false), ("a/b", false), ("../x", false), ("a b", false), ("ä", false),
            ("a\u{0}", false),
        ])
    func applications(text: String, isValid: Bool) {
        #expect(((try? ApplicationID(text)) != nil) == isValid)
        #expect(((try? Team(text)) != nil) == isValid)
    }

    @Test(
        "a sandboxed application may claim its own id as its team, or three or more of its first labels",
        arguments: [
            ("org.example.suite.Notes", true), ("org.example.suite", true), ("org.example", false),
            ("org", false), ("org.example.sui", false), ("org.example.suite.Notes.More", false),
            ("org.example.other", false), ("org..example", false),
        ])
    func teams(team: String, isClaimable: Bool) throws {
        let application = try ApplicationID("org.example.suite.Notes")
        #expect(try Team(team).isClaimable(by: application) == isClaimable)
    }

    @Test("each refusal quotes the value, and nothing in it that could steer a terminal")
    func messages() throws {
        let failure = try #require(throws: HandoffFailure.self) { _ = try ActivityType("red\u{1B}[31m") }
        #expect(failure.message.contains("red\u{FFFD}[31m"))
        #expect(!failure.message.unicodeScalars.contains("\u{1B}"))
    }
}

@Suite("Instants")
struct InstantTests {
    @Test("time far away is cut to the clock's range instead of overflowing")
    func saturation() {
        let late = Instant(microseconds: .max - 1)
        #expect(late.advanced(by: .seconds(60)).microseconds == .max)
        #expect(Instant(microseconds: .min + 1).advanced(by: .seconds(-60)).microseconds == .min)
        #expect(Instant.at(0).advanced(by: .seconds(Int64.max)).microseconds == .max)
        #expect(Instant.at(0).advanced(by: .seconds(Int64.min)).microseconds == .min)
    }

    @Test("durations count in microseconds")
    func arithmetic() {
        #expect(Instant.at(1).advanced(by: .milliseconds(100)) == .at(101))
        #expect(Instant.at(1).duration(to: .at(4)) == .milliseconds(3))
        #expect(Instant.at(1) < .at(2))
    }
}
