// SPDX-License-Identifier: LGPL-2.1-or-later

/// What is remembered of the activities that peers have kept for this device: a peer offers them on each link, until
/// they are continued here, or put aside.
package struct KeptForUs: Sendable {
    /// One of them.
    package struct Entry: Hashable, Sendable {
        /// Who has sent it.
        package let device: DeviceID
        /// What was sent.
        package let activity: ActivityID
        /// When it was shown here as sent for the first time, in microseconds since the Unix epoch; 0 if it was not.
        package var invitedAt: Int64 = 0
        /// Whether it was continued here, or put aside, so that it is not shown any more.
        package var isSettled = false

        /// One of them, of which nothing has come yet.
        package init(device: DeviceID, activity: ActivityID, invitedAt: Int64 = 0, isSettled: Bool = false) {
            (self.device, self.activity) = (device, activity)
            (self.invitedAt, self.isSettled) = (invitedAt, isSettled)
        }
    }

    /// How many are remembered of a device; the oldest goes first.
    package static let maximumCount = 64

    /// The oldest first.
    package private(set) var entries: [Entry] = []

    /// None.
    package init() {}

    /// `entries`, the latest of each device if there are too many.
    package init(_ entries: [Entry]) { for entry in entries { put(entry) } }

    /// Whether it was continued here, or put aside.
    package func isSettled(_ activity: ActivityID, of device: DeviceID) -> Bool {
        self[activity, device]?.isSettled ?? false
    }

    /// When it was shown here as sent for the first time, in microseconds since the Unix epoch; 0 if it was not.
    package func invitedAt(_ activity: ActivityID, of device: DeviceID) -> Int64 {
        self[activity, device]?.invitedAt ?? 0
    }

    /// It is shown as sent, at the time `now` unless it was before.
    package mutating func invited(_ activity: ActivityID, by device: DeviceID, at now: Int64) {
        change(activity, device) { if $0.invitedAt == 0 { $0.invitedAt = max(1, now) } }
    }

    /// It was continued here, or put aside.
    package mutating func settled(_ activity: ActivityID, of device: DeviceID) {
        change(activity, device) { $0.isSettled = true }
    }

    /// The device is no longer a peer.
    package mutating func forget(_ device: DeviceID) { entries.removeAll { $0.device == device } }

    /// The same, with what others know besides: what one knows to be settled is, and the first invitation counts.
    package func merged(with others: KeptForUs) -> KeptForUs {
        var all = self
        for other in others.entries {
            all.change(other.activity, other.device) { entry in
                if entry.invitedAt == 0 { entry.invitedAt = other.invitedAt }
                entry.isSettled = entry.isSettled || other.isSettled
            }
        }
        return all
    }

    private subscript(activity: ActivityID, device: DeviceID) -> Entry? {
        entries.first { $0.activity == activity && $0.device == device }
    }

    private mutating func change(_ activity: ActivityID, _ device: DeviceID, _ body: (inout Entry) -> Void) {
        var entry = self[activity, device] ?? Entry(device: device, activity: activity)
        body(&entry)
        put(entry)
    }

    private mutating func put(_ entry: Entry) {
        entries.removeAll { $0.activity == entry.activity && $0.device == entry.device }
        entries.append(entry)
        let mine = entries.filter { $0.device == entry.device }
        // Whoever sends much pushes out nothing of others.
        if mine.count > Self.maximumCount { entries.removeAll { $0 == mine[0] } }
    }
}
