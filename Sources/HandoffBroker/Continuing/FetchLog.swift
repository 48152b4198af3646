// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffDaemon
internal import MainLoop
internal import Platform

/// Tells the journal what peers take of this session, with their names, and never so much of one of them that the
/// journal would drop what is told.
@MainLoop
final class FetchLog {
    private unowned let broker: Broker
    private var budget = FetchLogBudget()
    private lazy var timer = DeadlineTimer { [weak self] in self?.sumUp() }

    init(_ broker: Broker) { self.broker = broker }

    /// `device` has done something about this continuation of `object`: `what` and `end` stand before and behind the title.
    func say(
        _ device: DeviceID, _ what: String, _ object: ActivityObject, _ continuation: ContinuationID,
        _ end: String = ""
    ) {
        sumUp()
        defer { timer.set(budget.nextDeadline?.microseconds) }
        guard budget.take(device, at: .now) else { return }
        brokerLog.message(
            "\(broker.peers.name(of: device)) \(what) “\(PeerText.title(object.title))”"
                + " (\(PeerText.message(object.activityType)))\(end).",
            ["HANDOFF_CONTINUATION": continuation.description])
    }

    private func sumUp() {
        for summary in budget.advance(to: .now) {
            let times = summary.count == 1 ? "once" : "\(summary.count) times"
            brokerLog.message(
                "\(broker.peers.name(of: summary.device)) fetched \(times) more within the last minute.")
        }
        timer.set(budget.nextDeadline?.microseconds)
    }
}
