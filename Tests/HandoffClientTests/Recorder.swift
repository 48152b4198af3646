// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import MainLoop

/// Writes down what a client tells, and answers what it asks as a test says.
@MainLoop
final class Recorder: HandoffClientDelegate {
    /// How the client has stood, in order.
    private(set) var standings: [ClientStanding] = []
    /// What happened to activities and continuations, in order.
    private(set) var events: [String] = []
    /// Where the activities are.
    private(set) var paths: [ActivityKey: ObjectPath] = [:]
    /// What is current.
    private(set) var current: Set<ActivityKey> = []
    /// The continuations that were announced or handed over.
    private(set) var continuations: [ContinuationKey] = []
    var onWillSave: @MainLoop () async throws -> [String: Value] = { [:] }

    func standingChanged(_ standing: ClientStanding) { standings.append(standing) }
    func brokerEnded(isReplaced: Bool) { events.append(isReplaced ? "replaced" : "ended") }
    func registrationEnded(_ reason: String) { events.append("registration ended: \(reason)") }
    func created(_ key: ActivityKey, at path: ObjectPath) { paths[key] = path }

    func currentChanged(_ key: ActivityKey, _ isCurrent: Bool) {
        if isCurrent { current.insert(key) } else { current.remove(key) }
    }

    func needsSaveChanged(_ key: ActivityKey, _ needsSave: Bool) { events.append("needs save: \(needsSave)") }

    func refused(_ key: ActivityKey, _ error: DBusError, restored: [String: Value?]) {
        events.append("refused: \(error.name) \(restored.keys.sorted())")
    }

    func willSave(_ key: ActivityKey) async throws -> [String: Value] { try await onWillSave() }

    func willContinue(
        _ key: ContinuationKey, type: String, from device: ClientDevice
    ) async throws -> Bool {
        events.append("will \(type)")
        continuations.append(key)
        return true
    }

    func continueActivity(
        _ key: ContinuationKey, _ activity: [String: Value], _ context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        events.append("continue")
        continuations.append(key)
        return true
    }

    func didFailToContinue(_ key: ContinuationKey?, type: String, _ error: DBusError) {
        events.append("failed \(type)")
    }
}
