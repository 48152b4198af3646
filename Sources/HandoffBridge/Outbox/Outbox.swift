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
    private var items = OutboxItems()
    /// Why their devices did not take them.
    private var errors: [ActivityID: ShownError] = [:]
    private let folder: StateFolder
    private let owner: any OutboxOwner
    private var timer: LoopSource?

    /// The name of the file in the state folder.
    nonisolated static let fileName = HandoffDirectories.outboxName
    private static let risk =
        "Others could read what waits for devices that are away, or change it. Look through it (handoff waiting)."
    /// How often the wall clock, which may be set, is looked at while something waits.
    private static let longestWait = Duration.seconds(86_400)

    /// The outbox in `folder`, as yet empty.
    init(in folder: StateFolder, _ owner: any OutboxOwner) { (self.folder, self.owner) = (folder, owner) }

    /// Reads the file; an absent one is empty, and a damaged one is set aside. The folder must be locked.
    func load() {
        let path = folder.file(Self.fileName)
        do {
            let bytes = try folder.read(Self.fileName, maximumSize: OutboxFile.maximumSize, risk: Self.risk)
            items = OutboxItems(try OutboxFile.parse(bytes ?? []))
        } catch {
            let aside = (try? StateFolder.setAside(path)) ?? path
            bridgeLog.warning(
                "What waits for devices that are away, \(path), cannot be read: \(error). It was kept as \(aside)."
                    + " Send again what has not arrived.")
        }
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
        try changed.add(item)
        try save(changed)
        bridgeLog.message("Activity \(item.origin) waits for \(peer.label), as \(item.id).")
        changedDevice(device)
        // It may have come meanwhile.
        if let link = peer.link { deliver([item.id], to: peer, over: link) }
    }

    /// What waits for `device`, for the user to see.
    func waiting(for device: DeviceID) -> [[String: Value]] {
        items.items(for: device).map { item in
            let error = errors[item.id] ?? .none
            var shown: [String: Value] = [
                "Id": .string(item.id.description), "Since": .int64(item.sentAt),
                "Arrived": .int64(item.arrivedAt), "Error": .string(error.text),
                "ErrorName": .string(error.name),
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
        guard items.item(id, for: device) != nil else {
            throw HandoffFailure(
                .unknownObject,
                "Nothing with the id \(id) waits for this device. It may have been continued there; see Waiting."
            )
        }
        try remove(id, of: device)
    }

    // MARK: The device

    /// There is a new link to `peer`.
    func linked(_ peer: Peer, _ link: Link) {
        expire()
        deliver(items.items(for: peer.device).map(\.id), to: peer, over: link)
    }

    /// Offers these to `peer`, one after the other, as long as there is this link.
    private func deliver(_ ids: [ActivityID], to peer: Peer, over link: Link) {
        guard !ids.isEmpty else { return }
        MainLoop.start { [weak self] in
            for id in ids {
                guard peer.link === link, let self else { return }
                await deliver(id, to: peer, over: link)
            }
        }
    }

    private func deliver(_ id: ActivityID, to peer: Peer, over link: Link) async {
        guard let item = items.item(id, for: peer.device) else { return }
        do {
            var summary = try SummaryTime.forLink(item.summary, now: MainLoop.wallClock)
            summary["Kept"] = .string(item.origin.description)
            let proxy = PeerProxy(link.remote)
            link.expectAcknowledgement()
            try await proxy.offer(activity: id.description, summary: summary)
            try await proxy.invite(activity: id.description)
        } catch {
            guard !link.isClosed, items.item(id, for: peer.device) != nil else { return }
            let failure = HandoffFailure(routed: error)
            bridgeLog.info("\(peer.label) did not take \(id), which was sent to it: \(failure)")
            // It was continued there, or put aside, and the word of that was lost.
            if failure.code == .cancelled { return settled(item) }
            errors[id] = ShownError(failure)
            return changedDevice(peer.device)
        }
        errors[id] = nil
        var changed = items
        if changed.arrived(id, at: MainLoop.wallClock) {
            bridgeLog.message("\(peer.label) has \(id), which was sent to it.")
            saveOrSay(changed)
        }
        changedDevice(peer.device)
    }

    /// `device` fetches the item, to continue it.
    /// - Returns: nil unless it waits for that device.
    func fetch(
        _ id: ActivityID, for continuation: ContinuationID, by device: DeviceID
    ) -> PackedProperties? {
        items.fetch(id, for: continuation, by: device)?.payload
    }

    /// `device` has continued what it fetched for this continuation: it waits no longer.
    /// - Returns: whether that was something that waited here.
    func continued(_ continuation: ContinuationID, by device: DeviceID) -> Bool {
        guard let item = items.item(of: continuation, by: device) else { return false }
        settled(item)
        guard let broker = owner.brokersPeer(device) else { return true }
        MainLoop.start {
            do {
                try await broker.continuedParked(
                    activity: item.origin.description, continuation: continuation.description,
                    revision: item.revision)
            } catch {
                // The activity may be long gone.
                bridgeLog.debug(
                    "Nobody hears that \(item.origin) was continued: \(HandoffFailure(routed: error))")
            }
        }
        return true
    }

    /// Whether `device` fetched for this continuation something that waits here. If nothing came of it, it goes on waiting.
    func holds(_ continuation: ContinuationID, of device: DeviceID) -> Bool {
        items.item(of: continuation, by: device) != nil
    }

    /// The user of `device` has put the item aside: it waits no longer.
    func dismissed(_ id: ActivityID, by device: DeviceID) {
        if let item = items.item(id, for: device) { settled(item) }
    }

    /// The device is no longer a peer.
    func forget(_ device: DeviceID) {
        var changed = items
        if changed.forget(device) { saveOrSay(changed) }
    }

    private func settled(_ item: OutboxItem) {
        do {
            try remove(item.id, of: item.device)
        } catch {
            // The device will say so again.
            bridgeLog.warning("\(item.id) goes on waiting: \(error)")
        }
    }

    private func remove(_ id: ActivityID, of device: DeviceID) throws {
        var changed = items
        changed.remove(id)
        try save(changed)
        errors[id] = nil
        owner.peer(device)?.tellWithdrawn(id)
        changedDevice(device)
    }

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
            bridgeLog.warning("\(item.id) has waited for a week for device \(item.device), and is given up.")
            owner.peer(item.device)?.tellWithdrawn(item.id)
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

    /// Saves `changed`, which holds whether or not it can be saved.
    private func saveOrSay(_ changed: OutboxItems) {
        do {
            try save(changed)
        } catch {
            items = changed
            bridgeLog.warning("\(error)")
        }
    }
}
