// SPDX-License-Identifier: LGPL-2.1-or-later

/// Whether the user is at this machine, from what the session says of locks, idleness and sleep.
///
/// Its clock goes on while the machine sleeps. Until it is known whether the session is locked, it counts as locked.
package struct Presence: Sendable {
    /// Who says whether the session is locked.
    package enum Locker: Hashable, Sendable, CaseIterable {
        /// The session's own hint.
        case session
        /// The screen saver of GNOME and its relatives.
        case desktopScreenSaver
        /// The screen saver of everybody else.
        case screenSaver
    }

    /// Who says that nobody does anything at the machine.
    package enum Source: Hashable, Sendable, CaseIterable {
        /// The session's own hint.
        case session
        /// What watches keyboard and pointer.
        case monitor
        /// The machine sleeps.
        case sleep
    }

    /// What has come about.
    package enum Event: Hashable, Sendable {
        /// From now on others could see what is shown.
        case locked
        /// From now on only the user sees what is shown.
        case unlocked
        /// The user has come to this machine. If it has just woken up, its links are still to come.
        case arrived(hasJustWokenUp: Bool)
    }

    /// How long nobody has to have done anything for coming back to be an arrival.
    package static let longIdle = Duration.seconds(180)
    /// How long after waking up an arrival belongs to that.
    package static let afterSleep = Duration.seconds(60)

    private enum Lock {
        case unknown, unlocked, locked
    }

    /// What each says; nothing until that is known.
    private var said: [Locker: Bool] = [:]
    /// Whether the session was locked without anybody who could tell of its end: it was asked to lock, or who said that it
    /// is locked has gone.
    private var isLockedUnseen = false
    /// Whether it has been locked, and not been unlocked since.
    private var hasBeenLocked = false
    private var idleSince: [Source: Instant] = [:]
    private var wokenUp: Instant?

    /// Nothing is known.
    package init() {}

    /// Whether others could see what is shown.
    package var isLocked: Bool { lock != .unlocked }

    /// It is locked if anybody says so, and unlocked only once nobody may still say so.
    private var lock: Lock {
        if isLockedUnseen || said.values.contains(true) { return .locked }
        return said.count == Locker.allCases.count ? .unlocked : .unknown
    }

    /// The session is locked, or is not, as `locker` says.
    package mutating func lockIs(_ isLocked: Bool, _ locker: Locker, at now: Instant) -> [Event] {
        let former = lock
        // Whoever ends a lock ends one that nobody has seen too: a request may be what has led to it.
        if said[locker] == true, !isLocked { isLockedUnseen = false }
        said[locker] = isLocked
        return changed(from: former, at: now)
    }

    /// There is no such locker, or none any more. What it has locked stays so: it may be locked still.
    package mutating func isGone(_ locker: Locker, at now: Instant) -> [Event] {
        let former = lock
        if said[locker] == true { isLockedUnseen = true }
        said[locker] = false
        return changed(from: former, at: now)
    }

    /// Somebody has asked for the session to be locked. It may be, by somebody who never says so.
    package mutating func lockAsked(at now: Instant) -> [Event] {
        let former = lock
        isLockedUnseen = true
        return changed(from: former, at: now)
    }

    /// Somebody has asked for the session to be unlocked. Whoever says by itself that it is locked has to say otherwise: it
    /// may ask for a password first.
    package mutating func unlockAsked(at now: Instant) -> [Event] {
        let former = lock
        isLockedUnseen = false
        return changed(from: former, at: now)
    }

    private mutating func changed(from former: Lock, at now: Instant) -> [Event] {
        switch lock {
        case former, .unknown: return []
        case .locked:
            hasBeenLocked = true
            return [.locked]
        case .unlocked:
            defer { hasBeenLocked = false }
            return [.unlocked] + (hasBeenLocked ? arrived(at: now) : [])
        }
    }

    /// Nobody does anything, and has not since `time`, as `source` says.
    package mutating func idle(_ source: Source, since time: Instant) {
        if idleSince[source] == nil { idleSince[source] = time }
    }

    /// Somebody does something again, as `source` says.
    package mutating func active(_ source: Source, at now: Instant) -> [Event] {
        if source == .sleep { wokenUp = now }
        guard let since = idleSince.removeValue(forKey: source), !isLocked,
            since.duration(to: now) >= Self.longIdle
        else { return [] }
        return arrived(at: now)
    }

    /// Whoever else says that the user is back speaks of the same arrival.
    private mutating func arrived(at now: Instant) -> [Event] {
        idleSince = [:]
        let hasJustWokenUp = wokenUp.map { $0.duration(to: now) < Self.afterSleep } ?? false
        return [.arrived(hasJustWokenUp: hasJustWokenUp)]
    }
}
