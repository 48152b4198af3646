// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import HandoffStarting
internal import MainLoop

/// Getting the activity: from its device, or as that has left it here.
extension ContinuationRunner {
    func fetch() async {
        if trace.times[.request] == nil { trace.ended(.request) }
        let begin = MainLoop.now
        do {
            let fetched = try await fetched()
            trace.fetched(since: begin, saving: FetchedActivity.saveTime(fetched))
            var (activity, summary, document) = try await check(fetched)
            // An answer that comes too late must not change what is being delivered.
            guard machine.isFetching else { return }
            if machine.wantsDocument { summary.document = await look(for: document) }
            guard machine.isFetching else { return }
            if summary.document == .present { documentFile.describe(&activity) }
            (self.activity, self.document) = (handed(activity), document)
            let actions = machine.fetched(summary, at: owner.tools.clock.instant)
            owner.fetched(id, supportsStreams: supportsStreams)
            perform(actions)
        } catch {
            perform(machine.fetchFailed(HandoffFailure(routed: error), at: owner.tools.clock.instant))
        }
    }

    private func fetched() async throws -> [String: Value] {
        if let parked { return withoutOrigin(try parked.payload.unpacked()) }
        do {
            var fetched = try await owner.peers.bridgePeer(device).fetch(
                activity: machine.offer.id.description, continuation: id.description,
                timeout: Deadline.fetch * 2
            ).unpacked()
            isWithoutOrigin = fetched.removeValue(forKey: "Parked") == .boolean(true)
            return isWithoutOrigin ? withoutOrigin(fetched) : fetched
        } catch  where HandoffFailure(routed: error).code == .connectionUnavailable {
            // Its device may have fallen asleep meanwhile.
            parked = offers.parked(key)
            guard let parked else { throw error }
            return withoutOrigin(try parked.payload.unpacked())
        }
    }

    /// What its device has left here: there is nobody to open a stream to.
    private func withoutOrigin(_ activity: [String: Value]) -> [String: Value] {
        isWithoutOrigin = true
        return activity.filter { $0.key != "SupportsContinuationStreams" }
    }

    /// Checks what was fetched. Where that names files in shared folders, these are looked at, on a thread.
    private func check(
        _ fetched: [String: Value]
    ) async throws -> (activity: [String: Value], summary: Continuation.Fetched, document: FetchedDocument?) {
        let offer = machine.offer
        guard SharedURLs.areNamed(in: fetched) else { return try FetchedActivity.check(fetched, offer) }
        let folders = await owner.tools.sharedFolders.current()
        let checked = await owner.tools.looks.look(.sharedCopy, of: device.description) {
            Result { try FetchedActivity.check(fetched, offer, folders) }
        }
        // Folders that do not answer keep nobody waiting: then nothing is shared.
        return try checked?.get() ?? FetchedActivity.check(fetched, offer)
    }
}
