// SPDX-License-Identifier: LGPL-2.1-or-later

/// Whether the user is at this machine, from what the session says of locks, idleness and sleep.
///
/// Its clock goes on while the machine sleeps. Until it is known whether the session is locked, it counts as locked.
public struct Presence: Sendable {
    /// Who says that nobody does anything at the machine.
    public enum Source: Hashable, Sendable, CaseIterable {
        /// The session's own hint.
        case session
        /// What watches keyboard and pointer.
        case monitor
        /// The machine sleeps.
        case sleep
    }

    /// What has come about.
    public enum Event: Hashable, Sendable {
        /// From now on others could see what is shown.
        case locked
        /// From now on only the user sees what is shown.
        case unlocked
        /// The user has come to this machine. If it has just woken up, its links are still to come.
        case arrived(hasJustWokenUp: Bool)
    }

    /// How long nobody has to have done anything for coming back to be an arrival.
    public static let longIdle = Duration.seconds(180)
    /// How long a request to lock may take to show; where nothing shows it, nothing shows its end either.
    public static let patience = Duration.seconds(10)
    /// How long after waking up an arrival belongs to that.
    public static let afterSleep = Duration.seconds(60)

    private enum Lock: Hashable {
        case unknown, unlocked, locked
        case asked(until: Instant)
    }

    private var lock = Lock.unknown
    private var idleSince: [Source: Instant] = [:]
    private var wokenUp: Instant?

    /// Nothing is known.
    public init() {}

    /// Whether others could see what is shown.
    public var isLocked: Bool { lock != .unlocked }

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    public var nextTime: Instant? { if case .asked(let until) = lock { until } else { nil } }

    /// The session is locked, or is not.
    public mutating func lockIs(_ isLocked: Bool, at now: Instant) -> [Event] {
        let former = lock
        lock = isLocked ? .locked : .unlocked
        switch (former, isLocked) {
        case (.unlocked, true), (.unknown, true): return [.locked]
        case (.unknown, false): return [.unlocked]
        case (.locked, false), (.asked, false): return [.unlocked] + arrived(at: now)
        case (.locked, true), (.asked, true), (.unlocked, false): return []
        }
    }

    /// Somebody has asked for the session to be locked.
    public mutating func lockAsked(at now: Instant) -> [Event] {
        guard lock == .unlocked else { return [] }
        lock = .asked(until: now.advanced(by: Self.patience))
        return [.locked]
    }

    /// Somebody has asked for the session to be unlocked. One that says by itself that it is locked is so until it says
    /// otherwise: whoever locks it may ask for a password first.
    public mutating func unlockAsked(at now: Instant) -> [Event] {
        guard case .asked = lock else { return [] }
        return lockIs(false, at: now)
    }

    /// Nobody does anything, and has not since `time`, as `source` says.
    public mutating func idle(_ source: Source, since time: Instant) {
        if idleSince[source] == nil { idleSince[source] = time }
    }

    /// Somebody does something again, as `source` says.
    public mutating func active(_ source: Source, at now: Instant) -> [Event] {
        if source == .sleep { wokenUp = now }
        guard let since = idleSince.removeValue(forKey: source), !isLocked,
            since.duration(to: now) >= Self.longIdle
        else { return [] }
        return arrived(at: now)
    }

    /// Time has passed.
    public mutating func advance(to now: Instant) -> [Event] {
        guard let nextTime, nextTime <= now else { return [] }
        lock = .unlocked
        return [.unlocked]
    }

    /// Whoever else says that the user is back speaks of the same arrival.
    private mutating func arrived(at now: Instant) -> [Event] {
        idleSince = [:]
        let hasJustWokenUp = wokenUp.map { $0.duration(to: now) < Self.afterSleep } ?? false
        return [.arrived(hasJustWokenUp: hasJustWokenUp)]
    }
}
