// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is shown of activities that another device has continued from here: the latest, at most one in two seconds, and
/// none while the session is locked or the user does not want it.
public struct ContinuedNotices: Sendable {
    /// What was continued, and where.
    public struct Continued: Equatable, Sendable {
        /// The device that has continued it.
        public let deviceID: String
        /// What that is called; may be empty.
        public let deviceName: String
        /// The application that it comes from.
        public let applicationID: String
        /// What it is called; may be empty.
        public let title: String

        /// Something that was continued.
        public init(deviceID: String, deviceName: String, applicationID: String, title: String) {
            self.deviceID = deviceID
            self.deviceName = deviceName
            self.applicationID = applicationID
            self.title = title
        }
    }

    /// What is to be done.
    public enum Action: Equatable, Sendable {
        /// Say that this was continued.
        case show(Continued)
        /// Take back what is said.
        case withdraw
    }

    /// Between two of them.
    public static let pace = Duration.seconds(2)

    private var isLocked = true
    private var isShown = false
    private var shownAt: Instant?
    private var waiting: Continued?

    /// Nothing was continued.
    public init() {}

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    public var nextTime: Instant? { waiting == nil ? nil : shownAt?.advanced(by: Self.pace) }

    /// Another device has continued something. `isWanted` says whether the user wants to be told.
    public mutating func continued(_ one: Continued, isWanted: Bool, at now: Instant) -> [Action] {
        guard isWanted, !isLocked else { return [] }
        waiting = one
        return advance(to: now)
    }

    /// Others could see from now on what is shown.
    public mutating func locked() -> [Action] {
        (isLocked, waiting) = (true, nil)
        guard isShown else { return [] }
        isShown = false
        return [.withdraw]
    }

    /// Only the user sees from now on what is shown.
    public mutating func unlocked() { isLocked = false }

    /// The user has put it away.
    public mutating func closed() { isShown = false }

    /// Time has passed.
    public mutating func advance(to now: Instant) -> [Action] {
        guard let one = waiting, nextTime.map({ $0 <= now }) ?? true else { return [] }
        // What only changes what is shown already would not be seen.
        let former: [Action] = isShown ? [.withdraw] : []
        (waiting, shownAt, isShown) = (nil, now, true)
        return former + [.show(one)]
    }
}
