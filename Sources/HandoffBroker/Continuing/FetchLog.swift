// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// Remembers what peers take from this session, and logs it with their names: never so much about one of them that the
/// journal would drop what is logged.
@MainLoop
final class FetchLog {
    /// What was listed for a peer.
    struct Listing {
        let device: DeviceID
        /// What the peer was called then.
        let deviceName: String
        /// When, in microseconds since the Unix epoch.
        let time: Int64
        /// What was listed; of what has no title, the application.
        let titles: [String]
    }

    /// What was listed last for each peer, the latest first.
    private(set) var listings: [Listing] = []
    /// What peers took last.
    private(set) var recent = RecentFetches()
    private let peers: any PeerDirectory
    private let clock: LoopClock
    private let announcements: Announcements
    /// Whether subscribers have yet to be told of what was fetched.
    private var isUntold = false
    private var budget = FetchLogBudget()
    /// What clipboards are in the list, which has activities otherwise.
    private static let clipboardType = try? ActivityType(RecentFetches.clipboardType)
    private static let clipboardApplication = try? ApplicationID("org.example.Handoff.Clipboard")
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

    /// What was open was listed for `device`, as the user can find out.
    func listed(_ offers: [Offer], for device: DeviceID) {
        listings.removeAll { $0.device == device }
        if listings.count >= RecentFetches.maximumDevices { listings.removeLast() }
        let titles = offers.map { $0.title.isEmpty ? $0.applicationID.description : $0.title }
        listings.insert(
            Listing(device: device, deviceName: peers.name(of: device), time: clock.wall, titles: titles),
            at: 0)
        announcements.tellSubscribers(["ListingsByDevice"])
        sumUp()
        defer { timer.set(budget.nextDeadline?.microseconds) }
        guard budget.take(device, at: .now) else { return }
        let count = offers.count == 1 ? "1 activity" : "\(offers.count) activities"
        brokerLog.message("\(peers.name(of: device)) was told what is open: \(count).")
    }

    /// `device` has fetched what was in the clipboard, as these kinds.
    func clipboardFetched(_ kinds: [ClipboardKind], by device: DeviceID) {
        guard let type = Self.clipboardType, let application = Self.clipboardApplication else { return }
        let what = kinds.map(\.rawValue).joined(separator: ", ")
        var generator = SystemRandomNumberGenerator()
        recent.add(
            RecentFetches.Fetch(
                .clipboard, continuation: ContinuationID(using: &generator), time: clock.wall, device: device,
                deviceName: peers.name(of: device), type: type,
                applicationID: application, title: what))
        tell()
        sumUp()
        defer { timer.set(budget.nextDeadline?.microseconds) }
        guard budget.take(device, at: .now) else { return }
        brokerLog.message("\(peers.name(of: device)) has taken what was in the clipboard (\(what)).")
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
