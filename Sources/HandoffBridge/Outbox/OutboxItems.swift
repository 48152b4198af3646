// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// One activity that the user has sent to a device that was away, as it was then.
struct OutboxItem: Equatable {
    /// What it is called for that device; nothing else is called that.
    let id: ActivityID
    /// For whom it is.
    let device: DeviceID
    /// The activity of which this is the state.
    let origin: ActivityID
    /// Its summary, in the form that it has on a bus.
    let summary: [String: Value]
    /// What the device gets for `Fetch`.
    let payload: PackedProperties
    /// When it was sent, in microseconds since the Unix epoch.
    let sentAt: Int64
    /// When the device was told of it first, likewise; 0 if it was not yet.
    var arrivedAt: Int64 = 0

    /// Which state of the activity it is.
    var revision: UInt64 {
        if case .uint64(let revision)? = summary["Revision"] { revision } else { 0 }
    }
}

/// What waits here for devices that were away, and how long.
///
/// Times are microseconds since the Unix epoch: what waits outlives the machine's sleep, and this program.
struct OutboxItems {
    /// How many may wait.
    static let maximumCount = 16
    /// How long one waits.
    static let lifetime: Int64 = 7 * 86_400 * 1_000_000

    private struct Continuing {
        let id: ContinuationID
        let item: ActivityID
    }

    /// The oldest first.
    private(set) var all: [OutboxItem] = []
    /// The continuations for which items were fetched, the oldest first.
    private var continuing: [Continuing] = []

    /// These, the oldest first.
    init(_ items: [OutboxItem] = []) { all = items }

    /// What waits for `device`, the oldest first.
    func items(for device: DeviceID) -> [OutboxItem] { all.filter { $0.device == device } }

    /// The item of this id that is for `device`.
    func item(_ id: ActivityID, for device: DeviceID) -> OutboxItem? {
        all.first { $0.id == id && $0.device == device }
    }

    /// One more waits.
    /// - Throws: `limitsExceeded` if there are too many.
    mutating func add(_ item: OutboxItem) throws(HandoffFailure) {
        guard all.count < Self.maximumCount else {
            throw HandoffFailure(
                .limitsExceeded,
                "\(Self.maximumCount) activities wait already for devices that are away. Cancel one of them first"
                    + " (handoff waiting).")
        }
        all.append(item)
    }

    /// The item waits no longer.
    mutating func remove(_ id: ActivityID) {
        all.removeAll { $0.id == id }
        continuing.removeAll { $0.item == id }
    }

    /// Nothing is kept any more for `device`.
    /// - Returns: whether something was.
    mutating func forget(_ device: DeviceID) -> Bool {
        let gone = items(for: device)
        for item in gone { remove(item.id) }
        return !gone.isEmpty
    }

    /// Its device was told of it, at the time `now`.
    /// - Returns: whether that is the first time.
    mutating func arrived(_ id: ActivityID, at now: Int64) -> Bool {
        guard let index = all.firstIndex(where: { $0.id == id && $0.arrivedAt == 0 }) else { return false }
        all[index].arrivedAt = max(1, now)
        return true
    }

    /// `device` fetches the item, to continue it.
    /// - Returns: nil unless it is for that device.
    mutating func fetch(
        _ id: ActivityID, for continuation: ContinuationID, by device: DeviceID
    ) -> OutboxItem? {
        guard let item = item(id, for: device) else { return nil }
        continuing.removeAll { $0.id == continuation }
        continuing = (continuing + [Continuing(id: continuation, item: id)]).suffix(4 * Self.maximumCount)
        return item
    }

    /// What `device` fetched for this continuation; nil if that is nothing that waits here.
    func item(of continuation: ContinuationID, by device: DeviceID) -> OutboxItem? {
        continuing.first { $0.id == continuation }.flatMap { item($0.item, for: device) }
    }

    /// When ``expire(at:)`` has something to do; nil if time changes nothing.
    var nextExpiry: Int64? { all.map { Self.end(of: $0) }.min() }

    /// Takes out what has waited too long.
    mutating func expire(at now: Int64) -> [OutboxItem] {
        let gone = all.filter { Self.end(of: $0) <= now }
        for item in gone { remove(item.id) }
        return gone
    }

    private static func end(of item: OutboxItem) -> Int64 {
        let (end, overflow) = item.sentAt.addingReportingOverflow(lifetime)
        return overflow ? .max : end
    }
}
