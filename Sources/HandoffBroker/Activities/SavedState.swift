// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus

/// What an application has answered to `WillSave`: a `UserInfo` in it is the whole new one, and nothing of the former is kept;
/// without one the former stays.
struct SavedState {
    /// What is to be applied like an update.
    let properties: [String: Value]
    /// Whether it holds for this moment only, which is what `NeedsSave` says there.
    let isPassing: Bool

    /// What `answer` says. A `NeedsSave` of another type stays, to be refused.
    init(_ answer: [String: Value]) {
        var properties = answer
        isPassing = answer["NeedsSave"] == .boolean(true)
        if case .boolean? = answer["NeedsSave"] { properties["NeedsSave"] = nil }
        self.properties = properties
    }
}
