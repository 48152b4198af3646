// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces

/// What an application has answered to `WillSave`: a `UserInfo` in it is the whole new one, and nothing of the former is kept;
/// without one the former stays.
struct SavedState {
    /// What is to be applied like an update.
    let properties: [String: Value]
    /// Whether it holds for this moment only.
    let isPassing: Bool

    /// What that is called in the answer. It is no property of an activity.
    private static let passing = "Passing"

    /// What `answer` says.
    /// - Throws: `InvalidArgs` if it says in another type than it should whether it holds for this moment only.
    init(_ answer: [String: Value]) throws(HandoffFailure) {
        isPassing =
            try answer[Self.passing].map { (value) throws(HandoffFailure) in
                try ActivityState.boolean(value, Self.passing)
            } ?? false
        properties = answer.filter { $0.key != Self.passing }
    }
}
