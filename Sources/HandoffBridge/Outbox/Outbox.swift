// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import MainLoop
internal import Platform

/// What the outbox needs from its surroundings.
@MainLoop
protocol OutboxOwner: AnyObject {
    /// The peer `device`; nil if the device is not a peer.
    func peer(_ device: DeviceID) -> Peer?
    /// What this device offers, with the state that its application saves now.
    /// - Throws: why it cannot be kept for a device that is away.
    func saveOffer() async throws -> PeerManagerSaveReply
    /// What takes the calls of the peer `device`; nil unless there is a broker that has been told of the peer.
    func brokersPeer(_ device: DeviceID) -> PeerProxy?
    /// What there is to show of `device` may have changed.
    func deviceChanged(_ device: DeviceID)
}

/// Keeps what the user sends to a device that is away, in memory and in a file that is always whole, and offers it to that
/// device on each link until it is continued there, or put aside.
@MainLoop
final class Outbox {
    /// Nothing of these applications goes to other devices.
    var excluded: Set<String> = [] {
        didSet { for item in items.all where excluded.contains(item.applicationID) { withdraw(item) } }
    }
    private var items = OutboxItems()
    /// What the log says that it was fetched.
    private var loggedFetches: Set<ActivityID> = []
    private let folder: StateFolder
    private let owner: any OutboxOwner
    private var timer: LoopSource?
    /// What has not been taken for the moment is offered once more then.
    private var retries: [DeviceID: LoopSource] = [:]

    /// The name of the file in the state folder.
    nonisolated static let fileName = HandoffDirectories.outboxName
    private static let risk =
        "Others could read what waits for devices that are away, or change it. Look through it (handoff waiting)."
    /// How often the wall clock, which may be set, is looked at while something waits.
    private static let longestWait = Duration.seconds(86_400)
    /// How long after a device could not take something for the moment it is offered once more.
    private static let retryTime = Duration.seconds(60)

    /// The outbox in `folder`, as yet empty.
    init(in folder: StateFolder, _ owner: any OutboxOwner) { (self.folder, self.owner) = (folder, owner) }

    /// Reads the file; an absent one is empty, and a damaged one is set aside. What is for others than `peers` is left out. The
    /// folder must be locked.
    /// - Throws: ``StartFailure`` if it cannot be read.
    func load(_ peers: Set<DeviceID>) throws {
        let path = folder.file(Self.fileName)
        do {
            let bytes = try folder.read(Self.fileName, maximumSize: OutboxFile.maximumSize, risk: Self.risk)
            items = OutboxItems(try OutboxFile.parse(bytes ?? []))
        } catch let error as KeyFileError where !error.isDamage {
            throw StartFailure(error.description)
        } catch let error as UnsafeFile {
            throw StartFailure(error.description)
        } catch {
            let aside = try StateFolder.setAside(path) ?? path
            bridgeLog.warning(
                "What waits for devices that are away, \(path), is damaged: \(error). It was kept as \(aside)."
                    + " Send again what has not arrived.")
        }
        keep(only: peers)
        expire()
    }

    // MARK: The user

    /// Keeps what this device offers for `device`, as its application saves it now; returns once that is safe on disk.
    /// - Throws: why it is not kept.
    func keep(for device: DeviceID, called label: String) async throws {
        let saved = try await owner.saveOffer()
        guard let peer = owner.peer(device) else { throw Peer.notPaired(label) }
        var generator = UnpredictableNumbers()
        let item = OutboxItem(
            id: ActivityID(using: &generator), device: device,
            origin: try ActivityID(checking: saved.activity),
            summary: saved.summary, payload: saved.payload, sentAt: MainLoop.wallClock)
        expire()
        var changed = items
        let former = try changed.add(item)
        try save(changed)
        bridgeLog.message("Activity \(item.origin) waits for \(peer.label), as \(item.id).")
        if let former { withdraw(former) }
        changedDevice(device)
        // It may have come meanwhile.
        if let link = peer.link { deliver([item.id], to: peer, over: link) }
    }

    /// The activity itself has been sent to `device`: what waits of it waits no longer.
    func sent(_ activity: ActivityID, to device: DeviceID) {
        if let item = items.item(of: activity, for: device) { drop(item) }
    }

    /// What waits for `device`, for the user to see.
    func waiting(for device: DeviceID) -> [[String: Value]] {
        items.items(for: device).map { item in
            var shown: [String: Value] = [
                "Id": .string(item.id.description), "Since": .int64(item.sentAt),
                "Arrived": .int64(item.arrivedAt), "Error": .string(item.error.text),
                "ErrorName": .string(item.error.name),
            ]
            for key in ["Title", "ActivityType", "ApplicationId"] {
                shown[key] = item.summary[key] ?? .string("")
            }
            return shown
        }
    }

    /// The user does not want the item `id` to wait for `device` any more.
    /// - Throws: `unknownObject` if it does not.
    func cancel(_ id: ActivityID, for device: DeviceID) throws {
        guard let item = items.item(id, for: device) else {
            throw HandoffFailure(
                .unknownObject,
                "Nothing with the id \(id) waits for this device. It may have been continued there; see Waiting."
            )
        }
        var changed = items
        changed.remove(id)
        try save(changed)
        withdraw(item)
        changedDevice(device)
    }

    // MARK: The device

    /// There is a new link to `peer`.
    func linked(_ peer: Peer, _ link: Link) {
        expire()
        deliver(items.items(for: peer.device).map(\.id), to: peer, over: link)
    }

    /// Offers these to `peer`, one after the other, as long as there is this link.
    private func deliver(_ ids: [ActivityID], to peer: Peer, over link: Link) {
        retries[peer.device] = nil
        guard !ids.isEmpty else { return }
        MainLoop.start { [weak self] in
            var isNews = false
            for id in ids {
                guard let self, peer.link === link else { break }
                isNews = await deliver(id, to: peer, over: link) || isNews
            }
            guard let self else { return }
            if isNews { saveOrSay(items) }
            owner.deviceChanged(peer.device)
        }
    }

    /// - Returns: whether the device has taken it for the first time.
    private func deliver(_ id: ActivityID, to peer: Peer, over link: Link) async -> Bool {
        guard let item = items.item(id, for: peer.device), !excluded.contains(item.applicationID) else {
            return false
        }
        do {
            var summary = try SummaryTime.forLink(item.summary, now: MainLoop.wallClock)
            summary["Kept"] = .string(item.origin.description)
            let proxy = PeerProxy(link.remote)
            link.expectAcknowledgement()
            try await proxy.offer(activity: id.description, summary: summary)
            try await proxy.invite(activity: id.description)
        } catch {
            guard peer.link === link, items.item(id, for: peer.device) != nil else { return false }
            refused(item, by: peer, HandoffFailure(routed: error))
            return false
        }
        guard items.offered(id, at: MainLoop.wallClock) else { return false }
        bridgeLog.message("\(peer.label) has \(id), which was sent to it.")
        return true
    }

    private func refused(_ item: OutboxItem, by peer: Peer, _ failure: HandoffFailure) {
        bridgeLog.info("\(peer.label) did not take \(item.id), which was sent to it: \(failure)")
        switch failure.code {
        case .cancelled:
            // It was continued there, or put aside, and the word of that was lost.
            dismissed(item.id, by: peer.device)
        case .limitsExceeded, .connectionUnavailable:
            // Its broker may have ended, or have been asked for too much.
            retries[peer.device] = .timer(after: Self.retryTime) { [weak self] in
                guard let self, let link = peer.link else { return }
                let failed = items.items(for: peer.device).filter { $0.error != .none }
                deliver(failed.map(\.id), to: peer, over: link)
            }
            fallthrough
        default: _ = items.offered(item.id, at: MainLoop.wallClock, ShownError(failure))
        }
    }

    /// `device` fetches the item, to continue it.
    /// - Returns: nil unless it waits for that device.
    func fetch(
        _ id: ActivityID, for continuation: ContinuationID, by peer: Peer
    ) -> PackedProperties? {
        guard let item = items.item(id, for: peer.device), !excluded.contains(item.applicationID) else {
            return nil
        }
        // Whoever fetches it again and again does not fill the journal.
        if loggedFetches.insert(id).inserted {
            bridgeLog.message("\(peer.label) has fetched \(id), which was sent to it.")
        }
        return items.fetch(id, for: continuation, by: peer.device)?.payload
    }

    /// `device` has continued what it fetched for this continuation: it waits no longer.
    /// - Returns: whether that was something that has waited here.
    func continued(_ continuation: ContinuationID, by device: DeviceID) -> Bool {
        guard let fetched = items.fetched(for: continuation, by: device) else { return false }
        settled(fetched.item, of: device)
        return true
    }

    /// Nothing more comes of this continuation of `device`: what it has fetched goes on waiting.
    /// - Returns: whether that was something that has waited here.
    func released(_ continuation: ContinuationID, by device: DeviceID) -> Bool {
        defer { items.released(continuation, by: device) }
        return items.fetched(for: continuation, by: device) != nil
    }

    /// The item was put aside at `device`, or was continued there, if it has been fetched: it waits no longer.
    func dismissed(_ id: ActivityID, by device: DeviceID) {
        if items.item(id, for: device) != nil { settled(id, of: device) }
    }

    /// Nothing is kept but for these devices, which are trusted.
    func keep(only devices: Set<DeviceID>) {
        var changed = items
        if changed.keep(only: devices) { saveOrSay(changed) }
        retries = retries.filter { devices.contains($0.key) }
    }

    private func settled(_ id: ActivityID, of device: DeviceID) {
        if let fetched = items.fetched(of: id, by: device) {
            items.released(fetched.continuation, by: device)
            tellContinued(fetched)
        }
        if let item = items.item(id, for: device) { drop(item) }
    }

    private func drop(_ item: OutboxItem) {
        var changed = items
        changed.remove(item.id)
        saveOrSay(changed)
        withdraw(item)
        changedDevice(item.device)
    }

    /// Tells the broker that the activity was continued, unless that is long gone.
    private func tellContinued(_ fetched: OutboxItems.Fetched) {
        guard let broker = owner.brokersPeer(fetched.device) else { return }
        MainLoop.start {
            do {
                try await broker.continuedParked(
                    activity: fetched.origin.description, continuation: fetched.continuation.description,
                    revision: fetched.revision)
            } catch {
                bridgeLog.debug(
                    "Nobody hears that \(fetched.origin) was continued: \(HandoffFailure(routed: error))")
            }
        }
    }

    private func withdraw(_ item: OutboxItem) { owner.peer(item.device)?.tellWithdrawn(item.id) }

    private func changedDevice(_ device: DeviceID) {
        owner.deviceChanged(device)
        schedule()
    }

    // MARK: Time

    private func expire() {
        var changed = items
        let gone = changed.expire(at: MainLoop.wallClock)
        if !gone.isEmpty { saveOrSay(changed) }
        for item in gone {
            bridgeLog.warning("\(item.id) has waited too long for device \(item.device), and is given up.")
            withdraw(item)
            owner.deviceChanged(item.device)
        }
        schedule()
    }

    private func schedule() {
        timer = items.nextExpiry.map { end in
            let (left, tooFar) = end.subtractingReportingOverflow(MainLoop.wallClock)
            let wait = tooFar ? Self.longestWait : min(.microseconds(max(0, left)), Self.longestWait)
            return .timer(after: wait) { [weak self] in self?.expire() }
        }
    }

    // MARK: The file

    private func save(_ changed: OutboxItems) throws {
        try SmallFile.write(try OutboxFile.render(changed.all), to: folder.file(Self.fileName))
        items = changed
    }

    /// Saves `changed`, which holds whether or not it can be saved: what was forgotten in vain, devices say again.
    private func saveOrSay(_ changed: OutboxItems) {
        items = changed
        do {
            try save(changed)
        } catch {
            bridgeLog.warning("\(error)")
        }
    }
}
