// SPDX-License-Identifier: LGPL-2.1-or-later

extension Continuation {
    /// Whether an answer to a call of this member still counts.
    package func isAwaiting(_ member: Recipients.Member) -> Bool {
        switch (state, member) {
        case (.preparing(.asked), .willContinue), (.delivering, .continue): true
        default: false
        }
    }

    /// Whether an answer to `Fetch` still counts.
    package var isFetching: Bool {
        if case .preparing = state { retrieval.isFetching } else { false }
    }

    /// The connection that was asked whether it will continue, or that was handed the activity, does not
    /// implement that call. Another connection of the application takes its place.
    package mutating func handedOver(_ handover: Handover, at now: Instant) -> [Action] {
        switch (state, handover) {
        case (.preparing(.asked), .ask), (.delivering, .ask):
            state = .preparing(.asked(until: now.advanced(by: Deadline.willContinue)))
            return [.askWillContinue]
        case (.preparing(.asked), .deliver), (.delivering, .deliver):
            state = .preparing(.ready)
            return proceed(at: now)
        default: return []
        }
    }
}
