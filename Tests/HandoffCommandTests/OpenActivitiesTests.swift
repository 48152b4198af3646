// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffStatus
import MainLoop
import Platform
import Testing

@testable import HandoffCommand

@Suite("What is shown of what is open at a device")
struct OpenActivitiesTests {
    private static let id = String(repeating: "a", count: 64)

    private static func device(isConnected: Bool = true) throws -> KnownDevice {
        KnownDevice(
            try ObjectPath("/org/example/Handoff/Bridge/devices/\(id)"), id: id,
            ["Name": .string("lap"), "Paired": .boolean(true), "Connected": .boolean(isConnected)])
    }

    private static func path(_ number: Int) throws -> ObjectPath {
        try ObjectPath("/org/example/Handoff/remote/\(id)/\(number)abc")
    }

    private static func offer(_ number: Int, _ title: String, obstacle: String = "") throws -> RemoteOffer {
        let properties: [String: Value] = [
            "Title": .string(title), "DeviceName": .string("lap"), "Listed": .boolean(true),
            "Obstacle": .string(obstacle),
            "Handlers": .strings(obstacle.isEmpty ? ["com.example.editor"] : []),
        ]
        return try #require(
            RemoteOffer(try path(number), ["org.example.Handoff.RemoteActivity": properties]))
    }

    private static func open() throws -> OpenActivities {
        OpenActivities(
            device: try device(),
            offers: [
                try offer(1, "A letter"), try offer(2, "Minutes", obstacle: "Install com.example.minutes"),
            ])
    }

    @Test("why nothing here continues one stands below it, in the table and where it is asked")
    @MainLoop
    func obstacles() throws {
        let open = try Self.open()
        let table = open.offers.lines(at: 0)
        #expect(table.count == 4 && table[1].contains("A letter") && table[2].contains("Minutes"))
        #expect(table[3] == "  Install com.example.minutes.")
        #expect(
            open.lines() == [
                "  1  “A letter”  “lap”", "  2  “Minutes”  “lap”", "      Install com.example.minutes.",
            ])
        let json = open.offers.map(\.json.text)
        #expect(json[0].contains(#""listed":true,"obstacle":"""#))
        #expect(json[1].contains(#""obstacle":"Install com.example.minutes""#))
    }

    @Test("the question says how many of them there are, and how many are meant if not all are")
    func questions() throws {
        let open = try Self.open()
        #expect(open.question(1) == "Continue 1 of 2 activities of “lap” here? [y/N]")
        #expect(open.question(2) == "Continue 2 activities of “lap” here? [y/N]")
        let one = OpenActivities(device: open.device, offers: [open.offers[0]])
        #expect(one.question(1) == "Continue 1 activity of “lap” here? [y/N]")
    }

    @Test(
        "what an answer says",
        arguments: [
            ("y", true), (" Yes ", true), ("n", false), ("", false), (nil, false), ("no", false),
            ("maybe", nil),
            ("yy", nil),
        ] as [(String?, Bool?)])
    func answers(_ line: String?, _ agrees: Bool?) { #expect(TypedAnswer.agrees(line) == agrees) }

    @Test(
        "why a device does not say what is open there names the device, and has the status of its kind",
        arguments: [
            ("org.example.Handoff.Error.ConnectionUnavailable", false, 5, "“lap” is not connected"),
            ("org.example.Handoff.Error.ConnectionUnavailable", true, 5, "“lap” has not said"),
            ("org.freedesktop.DBus.Error.NotSupported", true, 1, "“lap” is too old"),
            ("org.example.Handoff.Error.Disabled", true, 4, "switched off, here or on “lap”"),
            ("org.example.Handoff.Error.ApplicationFailed", true, 1, "“lap” has not said"),
            ("org.freedesktop.DBus.Error.NoReply", true, 5, "No answer came"),
        ] as [(String, Bool, Int32, String)])
    func failures(_ name: String, _ isConnected: Bool, _ status: Int32, _ part: String) throws {
        let error = DBusError(try ErrorName(name), "Something.")
        let failure = CommandFailure(
            OpenActivities.failure(error, try Self.device(isConnected: isConnected)))
        #expect(failure.status == status)
        #expect(failure.message.contains(part), "\(failure.message)")
    }

    // MARK: All at once

    private static func report(_ errors: String?...) throws -> ContinueAllReport {
        var report = ContinueAllReport(
            try errors.indices.map { try offer($0 + 1, "Letter \($0 + 1)") })
        let results = try zip(errors.indices, errors).map { index, error in
            Value.properties([
                "Activity": .objectPath(try path(index + 1)),
                "State": .string(error == nil ? "continued" : error == "" ? "continuing" : "failed"),
                "ErrorName": .string(error.map { "org.example.Handoff.Error.\($0)" } ?? ""),
            ])
        }
        report.update(["Results": try .array(of: "a{sv}", results)])
        return report
    }

    @Test("how far it is, and how it ended, is said in numbers")
    func numbers() throws {
        #expect(try Self.report(nil, "", nil).progress == "2 of 3 continued")
        #expect(try Self.report(nil, "", "Cancelled").progress == "1 of 3 continued, 1 failed")
        let device = try Self.device()
        #expect(try Self.report(nil).summary(device) == "1 of 1 activity of “lap” was continued.")
        #expect(
            try Self.report(nil, "Cancelled").summary(device) == "1 of 2 activities of “lap” were continued.")
    }

    @Test(
        "the status is 0 if all were continued, and one that tells more than 1 only if all have failed for the same",
        arguments: [
            ([nil, nil], false, 0, nil), ([nil, "OfferWithdrawn"], false, 3, "OfferWithdrawn"),
            (["NotPaired", "Disabled"], false, 4, "Refused"),
            (["NoApplication", "OfferWithdrawn"], false, 1, "Failed"),
            ([nil, "Cancelled"], true, 130, "Cancelled"), ([nil, nil], true, 0, nil),
        ] as [([String?], Bool, Int32, String?)])
    func statuses(_ errors: [String?], _ isInterrupted: Bool, _ status: Int32, _ name: String?) throws {
        let report = errors.count == 2 ? try Self.report(errors[0], errors[1]) : try Self.report()
        let failure = report.failure(isInterrupted, try Self.device())
        #expect((failure?.status ?? 0, failure?.name) == (status, name))
    }

    @Test("programs are told what has become of each, and what nothing here continues")
    func json() throws {
        let open = try Self.open()
        let report = try Self.report(nil, "Disabled", "")
        let text = report.json(open, report.lost).text
        for part in [
            #""total":3,"done":1,"failed":1,"results":[{"activityId":"1abc""#, #""state":"continued""#,
            #""state":"failed","note":null,"error":{"name":"Disabled""#, #""state":"continuing""#,
            #""left":[{"activityId":"2abc""#, #""error":{"name":"NotRunning","exitStatus":6"#,
        ] { #expect(text.contains(part), "\(part) in \(text)") }
    }
}
