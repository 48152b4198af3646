// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// Logs what peers take from this session, with their names, and never so much about one of them that the
/// journal would drop what is logged.
@MainLoop
final class FetchLog {
    private unowned let peers: any PeerDirectory
    private var budget = FetchLogBudget()
    private lazy var timer = DeadlineTimer { [weak self] in self?.sumUp() }

    init(_ peers: any PeerDirectory) { self.peers = peers }

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
