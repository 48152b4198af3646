// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffSettingsModel
import HandoffStatus
import Testing

/// What the window shows of what other devices have taken from the clipboard.
struct ClipboardActivityTests {
    private func page(_ types: [String], _ totals: [String: Value] = [:]) throws -> ActivityPage {
        let fetches = types.enumerated().map { number, types in
            Value.properties([
                "Kind": .string("clipboard"), "Time": .int64(Samples.now - Int64(number) * 1_000_000),
                "Title": .string(types), "DeviceId": .string(Samples.device), "DeviceName": .string("Laptop"),
                "ApplicationId": .string("org.example.Handoff.Clipboard"),
            ])
        }
        let more: [String: Value] = [
            "RecentFetches": try .array(of: "a{sv}", fetches),
            "FetchesByDevice": try .array(of: "a{sv}", totals.isEmpty ? [] : [.properties(totals)]),
        ]
        return Samples.content(Samples.report(Samples.broker(more: more))).activity
    }

    @Test("each time is a row of its own, which says what it was, and nothing of an application")
    func rows() throws {
        let rows = try page(["text/plain, text/html", "text/plain, text/html", "image/png", "x"]).recent
        #expect(
            rows.map(\.title) == [
                "Clipboard: Text", "Clipboard: Text", "Clipboard: Image", "Clipboard: Nothing",
            ])
        #expect(rows.allSatisfy { $0.device == "Laptop" && $0.pictures.isEmpty })
        #expect(rows.allSatisfy { !$0.detail.contains("Clipboard") && !$0.detail.isEmpty })
    }

    @Test("how often a device has taken it is counted beside what it has continued")
    func counts() throws {
        func counts(_ activities: UInt64, _ clipboards: UInt64) throws -> String? {
            try page(
                [], ["Fetches": .uint64(activities), "Clipboards": .uint64(clipboards)]
            ).devices.first?.counts
        }
        #expect(try counts(0, 1) == "the clipboard 1 time")
        #expect(try counts(2, 3) == "2 activities, the clipboard 3 times")
        #expect(try counts(1, 0) == "1 activity")
    }
}
