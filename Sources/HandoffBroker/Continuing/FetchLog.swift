// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// Remembers what peers take from this session, and logs it with their names: never so much about one of them that the
/// journal would drop what is logged.
@MainLoop
final class FetchLog {
    /// What peers took last.
    private(set) var recent = RecentFetches()
    private let peers: any PeerDirectory
    private let clock: LoopClock
    private let announcements: Announcements
    /// Whether subscribers have yet to be told of what was fetched.
    private var isUntold = false
    private var budget = FetchLogBudget()
    private lazy var timer = DeadlineTimer { [weak self] in self?.sumUp() }

    /// Nothing was taken. What is will be told by `announcements`.
    init(_ announcements: Announcements, clock: LoopClock) {
        (peers, self.announcements, self.clock) = (announcements.peers, announcements, clock)
    }

    /// Remembers that `device` has taken this, so that the user can find out what has left this device.
    func remember(
        _ kind: RecentFetches.Kind, of object: ActivityObject, _ continuation: ContinuationID,
        by device: DeviceID
    ) {
        recent.add(
            RecentFetches.Fetch(
                kind, continuation: continuation, time: clock.wall, device: device,
                deviceName: peers.name(of: device), type: object.type, applicationID: object.applicationID,
                title: PeerText.title(object.title)))
        tell()
    }

    /// Tells subscribers, once for all that was fetched within a turn of the loop.
    private func tell() {
        guard !isUntold else { return }
        isUntold = true
        MainLoop.start { [weak self] in
            guard let self else { return }
            isUntold = false
            announcements.tellSubscribers(["RecentFetches", "FetchesByDevice"])
        }
    }

    /// `device` has done something concerning this continuation of `object`: `what` comes before the title,
    /// and `end` after it.
    func say(
        _ device: DeviceID, _ what: String, _ object: ActivityObject, _ continuation: ContinuationID,
        _ end: String = ""
    ) {
        sumUp()
        defer { timer.set(budget.nextDeadline?.microseconds) }
        guard budget.take(device, at: .now) else { return }
        brokerLog.message(
            "\(peers.name(of: device)) \(what) “\(PeerText.title(object.title))”"
                + " (\(PeerText.message(object.activityType)))\(end).",
            ["HANDOFF_CONTINUATION": continuation.description])
    }

    private func sumUp() {
        for summary in budget.advance(to: .now) {
            let times = summary.count == 1 ? "once" : "\(summary.count) times"
            brokerLog.message(
                "\(peers.name(of: summary.device)) asked for activities, streams or documents \(times) more within the"
                    + " last minute.")
        }
        timer.set(budget.nextDeadline?.microseconds)
    }
}
