// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffKit

/// An activity that a ``TestBroker`` knows: its properties, and the saving of its state.
@MainActor
final class TestActivity {
    let id: ActivityID
    let type: ActivityType
    let applicationID: ApplicationID
    let team: Team
    /// What the application knows it by.
    let number: ActivityNumber
    private(set) var state: ActivityState
    private(set) var saving = Saving()
    private(set) weak var backend: TestBackend?
    /// It lives as long as the backend.
    private unowned let broker: TestBroker
    private var timer: Task<Void, Never>?
    /// The fetches that wait for the state to be saved.
    private var waiting: [ContinuationID: CheckedContinuation<Bool, Never>] = [:]

    init(
        _ id: ActivityID, type: ActivityType, registration: Registration, number: ActivityNumber,
        state: ActivityState, backend: TestBackend, broker: TestBroker
    ) {
        self.id = id
        self.type = type
        applicationID = registration.applicationID
        team = registration.team
        self.number = number
        self.state = state
        self.backend = backend
        self.broker = broker
    }

    var details: SessionActivity.Details { state.details(team: team) }

    /// Takes over `properties`, all or none.
    func apply(_ properties: [String: Value]) throws(HandoffFailure) {
        let former = state.size
        let connection = backend?.connection ?? ""
        let needsSave = try state.apply(properties, TestBroker.fileNameTypes) {
            (size) throws(HandoffFailure) in
            try broker.holdings.change(from: former, to: size, of: connection)
        }
        if properties.count > (needsSave == nil ? 0 : 1) {
            broker.perform(
                try broker.activities.update(id, details: details, payloadChanged: true, at: broker.now))
        }
        if let needsSave { setNeedsSave(needsSave) }
    }

    func setNeedsSave(_ needsSave: Bool) { perform(saving.setNeedsSave(needsSave, at: broker.now.instant)) }

    func currentChanged(_ isCurrent: Bool) {
        broker.later { [self] in
            backend?.currentChanged(number, isCurrent)
        }
        perform(saving.setCurrent(isCurrent, at: broker.now.instant))
    }

    /// What a continuation gets.
    var payload: [String: Value] {
        var payload = state.shared
        payload["ActivityType"] = .string(type.description)
        payload["ApplicationId"] = .string(applicationID.description)
        payload["Team"] = .string(team.description)
        if let type = state.documentType { payload["DocumentType"] = .string(type) }
        return payload
    }

    // MARK: Saving

    /// Waits until the state is as new as it can be.
    /// - Returns: false if the activity has ended meanwhile.
    func saved(for continuation: ContinuationID) async -> Bool {
        await withCheckedContinuation {
            waiting[continuation] = $0
            perform(saving.request(continuation, at: broker.now.instant))
        }
    }

    /// Time has passed.
    func advance() {
        guard backend != nil else { return }
        perform(saving.advance(to: broker.now.instant))
    }

    /// The activity is gone.
    func end() {
        perform(saving.invalidate())
        timer?.cancel()
        broker.holdings.end(state.size, of: backend?.connection ?? "")
    }

    private func perform(_ actions: [Saving.Action]) {
        for action in actions {
            switch action {
            case .needsSaveChanged(let needsSave):
                backend?.keep(["NeedsSave": .boolean(needsSave)], of: number)
                // Behind a `WillSave` that is asked for at the same time.
                broker.later { [self] in
                    await Task.yield()
                    backend?.receiver?.needsSaveChanged(number, needsSave)
                }
            case .askWillSave(let attempt): askWillSave(attempt)
            case .saved(let continuations): resume(continuations, true)
            case .gaveUp(let reason, let continuations): resume(continuations, reason != .invalidated)
            }
        }
        timer?.cancel()
        timer = TestClock.timer(saving.nextDeadline, broker.now.instant) { [weak self] in self?.advance() }
    }

    private func resume(_ continuations: [ContinuationID], _ isThere: Bool) {
        for id in continuations { waiting.removeValue(forKey: id)?.resume(returning: isThere) }
    }

    private func askWillSave(_ attempt: UInt64) {
        broker.later { [self] in
            // What the application waits for, nobody else does.
            Task { await self.willSave(attempt) }
        }
    }

    private func willSave(_ attempt: UInt64) async {
        do {
            let properties = try await backend?.receiver?.willSave(number) ?? [:]
            // The test may have ended meanwhile.
            guard let backend, saving.isAwaiting(attempt: attempt) else { return }
            do throws(HandoffFailure) {
                try apply(properties)
            } catch {
                backend.refused(properties, of: number, error)
                throw error
            }
            backend.keep(properties, of: number)
            perform(saving.answered(attempt: attempt, at: broker.now.instant))
        } catch {
            guard backend != nil else { return }
            perform(saving.failed(attempt: attempt, message: "\(error)", at: broker.now.instant))
        }
    }
}
