// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore

/// Which of the players of a session plays what its user is at.
///
/// That is the one that has begun to play last. What is paused stays for ten minutes, since people pause a film to continue
/// with it elsewhere; who has gone away for longer does not want to find it offered among what is newer, and finds it among
/// what is open. What was
/// continued elsewhere is over at once, until it is played here again.
package struct Players {
    /// One of them.
    private struct Player {
        let application: ApplicationID
        var report: PlayerReport
        /// When it began to play, by number; 0 if it has not since it is known.
        var began: UInt64 = 0
        /// When it was paused; nil if it plays.
        var paused: Instant?
        /// Whether what it plays is continued elsewhere, and it has not paused yet.
        var isOver = false

        /// Whether its user has begun what it plays or has paused, which can be offered.
        var isOpen: Bool { report.address != nil && began > 0 && report.status != .stopped }

        /// Whether it has anything to be shown at `now`.
        func isShown(at now: Instant) -> Bool {
            guard isOpen else { return false }
            guard let paused else { return true }
            return now < paused.advanced(by: Players.patience)
        }
    }

    /// What is shown.
    package struct Shown: Equatable, Sendable {
        /// The name on the bus of the player.
        package let name: BusName
        /// Which application it is.
        package let application: ApplicationID
        /// What it says.
        package let report: PlayerReport
    }

    /// How long what is paused is still what the user is at.
    package static let patience = Duration.seconds(600)

    private var players: [BusName: Player] = [:]
    private var beginnings: UInt64 = 0
    /// What is shown now; nil if nothing is.
    package private(set) var shown: Shown?

    /// There are none.
    package init() {}

    /// What all of them play, or have paused however long ago.
    package var open: [Shown] {
        players.filter { $0.value.isOpen }.map {
            Shown(name: $0.key, application: $0.value.application, report: $0.value.report)
        }
    }

    /// The players of `application`, those that play last.
    package func names(of application: ApplicationID) -> [BusName] {
        players.filter { $0.value.application == application }
            .sorted { ($0.value.began, $0.key) < ($1.value.began, $1.key) }.map(\.key)
    }

    /// What the player `name` has said last; nil if it is not known.
    package func report(of name: BusName) -> PlayerReport? { players[name]?.report }

    /// The player `name` of `application` says this now.
    /// - Returns: whether its user has just begun to play something with it.
    package mutating func says(
        _ report: PlayerReport, _ name: BusName, of application: ApplicationID, at now: Instant
    ) -> Bool {
        var player = players[name] ?? Player(application: application, report: report)
        if report.status != .playing || report.address != player.report.address { player.isOver = false }
        let isBeginning =
            report.status == .playing && report.address != nil && !player.isOver
            && (player.began == 0 || player.paused != nil)
        player.report = report
        switch report.status {
        case .playing:
            // Some say that they play before they say what.
            if report.address != nil { player.paused = nil }
            if isBeginning {
                beginnings += 1
                player.began = beginnings
            }
        case .paused, .stopped: player.paused = player.paused ?? now
        }
        players[name] = player
        choose(at: now)
        return isBeginning && shown?.name == name
    }

    /// What `name` plays is continued elsewhere, or is nothing to be shown any more until it is played again.
    package mutating func handedOver(_ name: BusName, at now: Instant) {
        players[name]?.began = 0
        let isPaused = players[name]?.paused != nil
        players[name]?.isOver = !isPaused
        choose(at: now)
    }

    /// The player `name` is gone.
    package mutating func left(_ name: BusName, at now: Instant) {
        players[name] = nil
        choose(at: now)
    }

    /// When ``advance(to:)`` has something to do; nil if time changes nothing.
    package var nextDeadline: Instant? {
        shown.flatMap { players[$0.name]?.paused }?.advanced(by: Self.patience)
    }

    /// Time has passed.
    package mutating func advance(to now: Instant) { choose(at: now) }

    private mutating func choose(at now: Instant) {
        // What plays comes before what is paused.
        let best = players.filter { $0.value.isShown(at: now) }
            .max {
                ($0.value.paused == nil ? 1 : 0, $0.value.began) < (
                    $1.value.paused == nil ? 1 : 0, $1.value.began
                )
            }
        shown = best.map { Shown(name: $0.key, application: $0.value.application, report: $0.value.report) }
    }
}
