// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffInterfaces
internal import MainLoop

extension HandoffClient {
    /// Whether there is a broker that the application is registered with.
    package var hasBroker: Bool { broker != nil }

    /// Creates an activity that is known by `key` from now on; an empty type is the first that is declared, or what the
    /// document types give. `properties` are those of `org.example.Handoff.Activity`.
    package func create(_ key: ActivityKey, type: String, properties: [String: Value]) {
        activities.create(key, type: type, properties: properties)
        scheduleFlush()
    }

    /// Sets properties.
    package func update(_ key: ActivityKey, _ properties: [String: Value]) {
        activities.update(key, properties)
        scheduleFlush()
    }

    /// Makes the activity the current one.
    package func becomeCurrent(_ key: ActivityKey) {
        tell(activities.becomeCurrent(key))
        scheduleFlush()
    }

    /// It is no longer the current one, nor open.
    package func resignCurrent(_ key: ActivityKey) {
        tell(activities.resignCurrent(key))
        scheduleFlush()
    }

    /// It is no longer the current one, and stays open.
    package func leaveCurrent(_ key: ActivityKey) {
        tell(activities.leaveCurrent(key))
        scheduleFlush()
    }

    /// It is open from now on, with each broker, without becoming the current one.
    package func becomeOpen(_ key: ActivityKey) {
        activities.becomeOpen(key)
        scheduleFlush()
    }

    /// Ends the activity.
    package func invalidate(_ key: ActivityKey) {
        activities.invalidate(key)
        scheduleFlush()
    }

    /// The type that the activity was to have, empty if the broker was to choose; nil if it has ended.
    package func wantedType(of key: ActivityKey) -> String? { activities.activities[key]?.type }

    /// The type that the broker has given the activity.
    /// - Throws: what the broker answers; `UnknownObject` if it does not have the activity.
    package func type(of key: ActivityKey) async throws -> String {
        guard let broker, let path = activities.activities[key]?.path else {
            throw DBusError.unknownObject("The broker does not have the activity.")
        }
        return try await ActivityProxy(broker.object(path)).activityType()
    }

    /// The properties of the activity as the application wants them, nil if it has ended.
    package func properties(of key: ActivityKey) -> [String: Value]? {
        activities.activities[key]?.properties
    }

    // MARK: Waiting

    /// Waits until the broker has answered everything that was called before, or is gone, but no longer than `limit`.
    package func settle(within limit: Duration) async {
        flush()
        if activities.isSettled || broker == nil { return }
        nextWaiting += 1
        let number = nextWaiting
        let timer = LoopSource.timer(after: limit) { [weak self] in
            self?.waiting.removeValue(forKey: number)?.resume()
        }
        await withCheckedContinuation { waiting[number] = $0 }
        timer.cancel()
    }

    /// Nobody has to wait any longer.
    func resumeWaiting() {
        let all = waiting
        waiting = [:]
        for one in all.values { one.resume() }
    }
}
