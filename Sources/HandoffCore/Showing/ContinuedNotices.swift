// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is shown of activities that another device has continued from here: the latest, at most one in two seconds, and
/// none while the session is locked or the user does not want it.
package struct ContinuedNotices: Sendable {
    /// What was continued, and where.
    package struct Continued: Equatable, Sendable {
        /// The device that has continued it.
        package let deviceID: String
        /// What that is called; may be empty.
        package let deviceName: String
        /// The application that it comes from.
        package let applicationID: String
        /// What it is called; may be empty.
        package let title: String

        /// Something that was continued.
        package init(deviceID: String, deviceName: String, applicationID: String, title: String) {
            self.deviceID = deviceID
            self.deviceName = deviceName
            self.applicationID = applicationID
            self.title = title
        }
    }

    /// What is to be done.
    package enum Action: Equatable, Sendable {
        /// Say that this was continued.
        case show(Continued)
        /// Take back what is said.
        case withdraw
    }

    /// Between two of them.
    package static let pace = Duration.seconds(2)

    private var isLocked = true
    private var isShown = false
    private var shownAt: Instant?
    private var waiting: Continued?

    /// Nothing was continued.
    package init() {}

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    package var nextTime: Instant? { waiting == nil ? nil : shownAt?.advanced(by: Self.pace) }

    /// Another device has continued something. `isWanted` says whether the user wants to be told.
    package mutating func continued(_ one: Continued, isWanted: Bool, at now: Instant) -> [Action] {
        guard isWanted, !isLocked else { return [] }
        waiting = one
        return advance(to: now)
    }

    /// Others could see from now on what is shown.
    package mutating func locked() -> [Action] {
        (isLocked, waiting) = (true, nil)
        guard isShown else { return [] }
        isShown = false
        return [.withdraw]
    }

    /// Only the user sees from now on what is shown.
    package mutating func unlocked() { isLocked = false }

    /// The user has put it away.
    package mutating func closed() { isShown = false }

    /// Time has passed.
    package mutating func advance(to now: Instant) -> [Action] {
        guard let one = waiting, nextTime.map({ $0 <= now }) ?? true else { return [] }
        // What only changes what is shown already would not be seen.
        let former: [Action] = isShown ? [.withdraw] : []
        (waiting, shownAt, isShown) = (nil, now, true)
        return former + [.show(one)]
    }
}
