// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffStatus
import Testing

@Suite("How far several activities are that are continued by one choice")
struct ContinueAllReportTests {
    private static let device = String(repeating: "a", count: 64)

    private static func path(_ id: Character) throws -> ObjectPath {
        try ObjectPath("/org/example/Handoff/remote/\(device)/\(String(repeating: id, count: 32))")
    }

    private static func report(_ ids: Character...) throws -> ContinueAllReport {
        ContinueAllReport(
            try ids.map { id in
                let properties: [String: Value] = ["Title": .string("Letter \(id)")]
                return try #require(
                    RemoteOffer(try path(id), ["org.example.Handoff.RemoteActivity": properties]))
            })
    }

    private static func results(
        _ states: KeyValuePairs<Character, String>, _ more: [String: Value] = [:]
    ) throws -> [String: Value] {
        let results = try states.map { id, state in
            Value.properties(
                ["Activity": .objectPath(try path(id)), "State": .string(state)].merging(more) { $1 })
        }
        return ["Results": try .array(of: "a{sv}", results)]
    }

    @Test("it counts what was continued and what was not, and is over when nothing else is left")
    func counting() throws {
        var report = try Self.report("1", "2", "3")
        let steps: [(KeyValuePairs<Character, String>, Int, Int, Bool)] = [
            ([:], 0, 0, false),
            (["1": "continuing", "2": "continuing", "3": "waiting"], 0, 0, false),
            (["1": "continued", "2": "continuing", "3": "continuing"], 1, 0, false),
            (["1": "continued", "2": "failed", "3": "continuing"], 1, 1, false),
            (["1": "continued", "2": "failed", "3": "continued"], 2, 1, true),
        ]
        for (states, done, failed, isOver) in steps {
            report.update(try Self.results(states))
            #expect((report.done, report.failed, report.isOver) == (done, failed, isOver))
        }
    }

    @Test("what has ended stays so, and what is not of it, or makes no sense, changes nothing")
    func backwards() throws {
        var report = try Self.report("1", "2")
        report.update(try Self.results(["1": "continued"]))
        let before = report
        report.update(try Self.results(["1": "continuing", "2": "thinking", "3": "failed"]))
        report.update(["Results": .string("1"), "Done": .uint32(7)])
        report.update([:])
        #expect(report == before)
    }

    @Test("one that has ended has an outcome, in the words of the application alone")
    func outcomes() throws {
        var report = try Self.report("1", "2")
        report.update(try Self.results(["1": "continued"], ["ApplicationId": .string("com.example.editor")]))
        report.update(
            try Self.results(
                ["2": "failed"],
                [
                    "ApplicationId": .string("com.example.editor"),
                    "ErrorName": .string("org.example.Handoff.Error.ApplicationFailed"),
                    "Message": .string(#"com.example.editor did not continue "Letter 2": It is sealed."#),
                ]))
        #expect(try Self.report("1").entries[0].outcome == nil)
        #expect(report.entries[0].outcome?.isSuccess == true)
        #expect(report.entries[0].outcome?.applicationID == "com.example.editor")
        #expect(report.entries[1].outcome?.isSuccess == false)
        #expect(report.entries[1].outcome?.message == "It is sealed.")
    }
}
