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
    /// When the device took it first, likewise; 0 if it has not yet.
    var arrivedAt: Int64 = 0
    /// Why the device did not take it last. This is not stored.
    var error = ShownError.none
    /// Until when it waits: for a week, or until it expires.
    let end: Int64

    private static let lifetime: Int64 = 7 * 86_400 * 1_000_000

    init(
        id: ActivityID, device: DeviceID, origin: ActivityID, summary: [String: Value],
        payload: PackedProperties, sentAt: Int64, arrivedAt: Int64 = 0
    ) {
        (self.id, self.device, self.origin) = (id, device, origin)
        (self.summary, self.payload, self.sentAt, self.arrivedAt) = (summary, payload, sentAt, arrivedAt)
        let (week, overflow) = sentAt.addingReportingOverflow(Self.lifetime)
        var end = overflow ? .max : week
        if case .int64(let date)? = try? payload.unpacked()["ExpirationDate"], date != 0 {
            end = min(end, date)
        }
        self.end = end
    }

    /// The application that it comes from.
    var applicationID: String { summary["ApplicationId"]?.string ?? "" }

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

    /// Something that was fetched, to be continued.
    struct Fetched: Equatable {
        /// By whom.
        let device: DeviceID
        /// For which continuation.
        let continuation: ContinuationID
        /// What it is called for that device.
        let item: ActivityID
        /// The activity of which it is the state.
        let origin: ActivityID
        /// Which state that is.
        let revision: UInt64
    }

    /// The oldest first.
    private(set) var all: [OutboxItem] = []
    /// What was fetched, and has neither been continued nor released; the oldest first. It outlives what waits, since the word
    /// that it was continued may come late.
    private var fetched: [Fetched] = []
    /// How much of that is known of one device: more than it may continue at a time.
    private static let maximumFetched = 16

    /// These, the oldest first.
    init(_ items: [OutboxItem] = []) { all = items }

    /// What waits for `device`, the oldest first.
    func items(for device: DeviceID) -> [OutboxItem] { all.filter { $0.device == device } }

    /// The item of this id that is for `device`.
    func item(_ id: ActivityID, for device: DeviceID) -> OutboxItem? {
        all.first { $0.id == id && $0.device == device }
    }

    /// One more waits, in place of what was sent of the same activity to the same device before.
    /// - Returns: that, which waits no longer; nil if there is none.
    /// - Throws: `limitsExceeded` if there are too many.
    mutating func add(_ item: OutboxItem) throws(HandoffFailure) -> OutboxItem? {
        let former = self.item(of: item.origin, for: item.device)
        guard former != nil || all.count < Self.maximumCount else {
            throw HandoffFailure(
                .limitsExceeded,
                "\(Self.maximumCount) activities wait already for devices that are away. Cancel one of them first"
                    + " (handoff waiting).")
        }
        all.removeAll { $0.id == former?.id }
        all.append(item)
        return former
    }

    /// What waits of the activity `origin` for `device`; nil if nothing does.
    func item(of origin: ActivityID, for device: DeviceID) -> OutboxItem? {
        all.first { $0.device == device && $0.origin == origin }
    }

    /// The item waits no longer.
    mutating func remove(_ id: ActivityID) { all.removeAll { $0.id == id } }

    /// Nothing is kept any more but for these devices.
    /// - Returns: whether something was.
    mutating func keep(only devices: Set<DeviceID>) -> Bool {
        let former = all.count
        all.removeAll { !devices.contains($0.device) }
        fetched.removeAll { !devices.contains($0.device) }
        return all.count < former
    }

    /// Its device took it at the time `now`, or did not, for this reason.
    /// - Returns: whether it has taken it for the first time.
    mutating func offered(_ id: ActivityID, at now: Int64, _ error: ShownError = .none) -> Bool {
        guard let index = all.firstIndex(where: { $0.id == id }) else { return false }
        all[index].error = error
        guard error == .none, all[index].arrivedAt == 0 else { return false }
        all[index].arrivedAt = max(1, now)
        return true
    }

    /// `device` fetches the item, to continue it.
    /// - Returns: nil unless it is for that device.
    mutating func fetch(
        _ id: ActivityID, for continuation: ContinuationID, by device: DeviceID
    ) -> OutboxItem? {
        guard let item = item(id, for: device) else { return nil }
        released(continuation, by: device)
        let one = Fetched(
            device: device, continuation: continuation, item: id, origin: item.origin, revision: item.revision
        )
        let mine = fetched.filter { $0.device == device }
        if mine.count == Self.maximumFetched { fetched.removeAll { $0 == mine[0] } }
        fetched.append(one)
        return item
    }

    /// What `device` fetched for this continuation; nil if that is nothing that has waited here.
    func fetched(for continuation: ContinuationID, by device: DeviceID) -> Fetched? {
        fetched.first { $0.continuation == continuation && $0.device == device }
    }

    /// What `device` fetched of this item, and has not released; nil if nothing.
    func fetched(of item: ActivityID, by device: DeviceID) -> Fetched? {
        fetched.last { $0.item == item && $0.device == device }
    }

    /// Nothing more comes of this continuation.
    mutating func released(_ continuation: ContinuationID, by device: DeviceID) {
        fetched.removeAll { $0.continuation == continuation && $0.device == device }
    }

    /// When ``expire(at:)`` has something to do; nil if time changes nothing.
    var nextExpiry: Int64? { all.map(\.end).min() }

    /// Takes out what has waited too long.
    mutating func expire(at now: Int64) -> [OutboxItem] {
        let gone = all.filter { $0.end <= now }
        for item in gone { remove(item.id) }
        return gone
    }
}
