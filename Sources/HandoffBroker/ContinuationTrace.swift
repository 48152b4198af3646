// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// The story of one continuation in the log: one id on both devices, and the time of each phase.
struct ContinuationTrace {
    private let id: ContinuationID
    private let begin = MainLoop.now

    init(_ id: ContinuationID) { self.id = id }

    private func say(_ text: String) {
        brokerLog.debug("continuation \(id): \(text)", ["HANDOFF_CONTINUATION": id.description])
    }

    private var age: String {
        let microseconds = MainLoop.now - begin
        let fraction = String(microseconds % 1000)
        return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) ms"
    }

    func began(_ what: String) { say(what) }
    func phase(_ name: String) { say("\(name) done after \(age)") }
    func finished(_ outcome: String) {
        brokerLog.message(
            "Continuation \(id) finished after \(age): \(outcome)", ["HANDOFF_CONTINUATION": id.description])
    }
}
