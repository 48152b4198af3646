// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop
internal import Platform

/// The story of one continuation in the log: the same id on both devices, and the time that each phase took.
struct ContinuationTrace {
    /// The phases of a continuation. `start` runs at the same time as those before it.
    enum Phase: String {
        /// From the user's choice until the peer is asked.
        case request
        /// The peer has its application save the state.
        case save
        /// The peer is asked and answers, not counting the time that it takes to save.
        case transfer
        /// The application is started, if it does not run, and answers `WillContinueActivity`.
        case start
        /// The application takes the activity.
        case deliver
    }

    private let id: ContinuationID
    private let begin = MainLoop.now
    /// The microseconds that each phase took; if a phase was repeated, the sum.
    private(set) var times: [Phase: Int64] = [:]

    init(_ id: ContinuationID) { self.id = id }

    /// For the signal `ContinueTrace`.
    var phases: [String: Int64] {
        Dictionary(uniqueKeysWithValues: times.map { ($0.key.rawValue, $0.value) })
    }

    func began(_ what: @autoclosure () -> String) { say(what()) }

    /// This phase has ended. It began at `start` by the clock of the main loop, or with the continuation if
    /// that is nil.
    mutating func ended(_ phase: Phase, since start: Int64? = nil) {
        took(phase, MainLoop.now - (start ?? begin))
    }

    /// The fetch that was requested at `start` has been answered; `saving` is how much of that time the peer
    /// says it spent on saving.
    mutating func fetched(since start: Int64, saving: Int64) {
        let whole = MainLoop.now - start
        // The value comes from the network, and may be anything.
        let saving = min(max(saving, 0), whole)
        took(.save, saving)
        took(.transfer, whole - saving)
    }

    private mutating func took(_ phase: Phase, _ microseconds: Int64) {
        times[phase, default: 0] += microseconds
        say("\(phase.rawValue) \(Self.text(microseconds)), after \(Self.text(MainLoop.now - begin))")
    }

    func finished(_ errorName: String, _ message: String) {
        let success = message.isEmpty ? "continued" : "continued. \(message)"
        let outcome = errorName.isEmpty ? success : "\(message) (\(errorName))"
        brokerLog.message(
            "Continuation \(id) finished after \(Self.text(MainLoop.now - begin)): \(outcome)",
            ["HANDOFF_CONTINUATION": id.description])
    }

    private func say(_ text: @autoclosure () -> String) { Self.say(id, text()) }

    /// A line about continuation `id`, on either device.
    static func say(_ id: ContinuationID, _ text: @autoclosure () -> String) {
        brokerLog.debug("continuation \(id): \(text())", ["HANDOFF_CONTINUATION": id.description])
    }

    /// Microseconds as milliseconds.
    static func text(_ microseconds: Int64) -> String {
        let fraction = String(microseconds % 1000)
        return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) ms"
    }
}
