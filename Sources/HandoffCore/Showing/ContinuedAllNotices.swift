// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is shown of several activities that the user has continued here by one choice, once all of them are over: how many go on
/// here, and why the first does not that does not. Nothing is shown while the session is locked, or afterwards of what was over
/// by then; nor where nothing is wrong but that the user has thought better of it.
package struct ContinuedAllNotices: Sendable {
    /// Several activities that are continued together.
    package struct Run: Equatable, Sendable {
        /// Why one of them was not continued here.
        package struct Failure: Equatable, Sendable {
            /// Why, and what to do, for people to read.
            package let message: String
            /// What else is said of it, by whoever has failed; may be empty.
            package let detail: String
            /// What it is called; may be empty.
            package let title: String
            /// The application that was to continue it; may be empty.
            package let applicationID: String

            /// A failure.
            package init(message: String, detail: String, title: String, applicationID: String) {
                (self.message, self.detail) = (message, detail)
                (self.title, self.applicationID) = (title, applicationID)
            }
        }

        /// By what it is known again.
        package let id: String
        /// How many activities there are.
        package let total: Int
        /// How many of them were continued here.
        package let done: Int
        /// Whether none is under way any more.
        package let isOver: Bool
        /// Whether the user has cancelled some of them.
        package let isCancelled: Bool
        /// The device that has the one which has failed, or else the first.
        package let deviceID: String
        /// What that is called; may be empty.
        package let deviceName: String
        /// Why the first that was not cancelled was not continued here; nil if there is none.
        package let failure: Failure?

        /// Several activities.
        package init(
            id: String, total: Int, done: Int, isOver: Bool, isCancelled: Bool = false, deviceID: String,
            deviceName: String, failure: Failure? = nil
        ) {
            (self.id, self.total, self.done, self.isOver) = (id, total, done, isOver)
            (self.isCancelled, self.failure) = (isCancelled, failure)
            (self.deviceID, self.deviceName) = (deviceID, deviceName)
        }
    }

    /// What is to be done.
    package enum Action: Equatable, Sendable {
        /// Say how these have ended.
        case show(Run)
        /// Take back what is said.
        case withdraw
    }

    /// Those that are over; nil while nobody says which there are.
    private var over: Set<String>?
    private var isLocked = true
    private var isShown = false

    /// Nothing is continued.
    package init() {}

    /// These are continued now, or were a moment ago; nil while nobody says. What is over when that is first said is old news.
    package mutating func update(_ runs: [Run]?) -> [Action] {
        let ended = (runs ?? []).filter(\.isOver)
        let former = over
        over = runs == nil ? nil : Set(ended.map(\.id))
        guard let former, !isLocked else { return [] }
        let new = ended.last { run in
            !former.contains(run.id) && (run.failure != nil || !run.isCancelled)
        }
        guard let new else { return [] }
        // What only changes what is shown already would not be seen.
        let actions: [Action] = isShown ? [.withdraw] : []
        isShown = true
        return actions + [.show(new)]
    }

    /// Others could see from now on what is shown.
    package mutating func locked() -> [Action] {
        isLocked = true
        guard isShown else { return [] }
        isShown = false
        return [.withdraw]
    }

    /// Only the user sees from now on what is shown.
    package mutating func unlocked() { isLocked = false }

    /// The user has put it away.
    package mutating func closed() { isShown = false }
}
