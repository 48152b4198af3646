// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import FoundationEssentials
internal import HandoffCore
internal import Platform

/// What an application has given to be called.
struct UserActivityClosures {
    var onWillSave: (@MainActor (UserActivity) async throws -> Void)?
    var onWasContinued: (@MainActor (UserActivity, ContinuationDevice) -> Void)?
    var onStream: (@MainActor (UserActivity, ContinuationStream) -> Void)?
    var onFailure: (@MainActor (UserActivity, HandoffError) -> Void)?
}

extension UserActivity {
    /// Calls `body` when the state is needed, before the delegate and the responders.
    ///
    /// ``userInfo`` is empty then; what is put there is the whole new state, which travels once this returns. If nothing is,
    /// the former stays. After two seconds, or if `body` throws, the former state is handed off, and the activity has that
    /// again; what `body` has put together until it returns nevertheless counts from then on, unless something newer was
    /// set.
    public func onWillSave(_ body: @escaping @MainActor (UserActivity) async throws -> Void) {
        closures.onWillSave = body
    }
    /// Calls `body` once the activity was continued on another device, before the delegate.
    public func onWasContinued(_ body: @escaping @MainActor (UserActivity, ContinuationDevice) -> Void) {
        closures.onWasContinued = body
    }
    /// Calls `body` with each stream that the continuing application opens, instead of the delegate.
    public func onStream(_ body: @escaping @MainActor (UserActivity, ContinuationStream) -> Void) {
        closures.onStream = body
    }
    /// Calls `body` when what was set is refused, here or by the broker, before the delegate.
    public func onFailure(_ body: @escaping @MainActor (UserActivity, HandoffError) -> Void) {
        closures.onFailure = body
    }

    // MARK: Saving

    /// How many saves may go on although they were given up. More are not begun before one of them ends.
    private static let maximumGivenUp = 4
    /// After which the broker may not wait for the answer any more: it waits longer, but has begun to before.
    private static let patience = Deadline.willSave / 8

    /// The state that a save puts together.
    var state: RunningSave.State {
        get { RunningSave.State(userInfo: content.userInfo, payloadKeys: payloadKeys) }
        set {
            replaceUserInfo(newValue.userInfo)
            payloadKeys = newValue.payloadKeys
        }
    }

    /// The broker needs the state. Saves come one after the other.
    /// - Returns: what has changed.
    func save() async throws -> [String: Value] {
        while let former = saving { await former.settled() }
        guard savesGivenUp < Self.maximumGivenUp else {
            clearNeedsSave()
            throw HandoffFailure(
                .applicationTimedOut,
                "\(savesGivenUp) saves of this activity have not come to their end. The last state is handed off."
            )
        }
        return try await beginSave().answer()
    }

    /// Everything in here happens in one turn, so that no second save can begin.
    private func beginSave() -> RunningSave {
        // The broker has the former state if it has to do with that, and it is not part of the answer.
        flush()
        clearNeedsSave()
        let save = RunningSave(of: self)
        saving = save
        state = RunningSave.State()
        save.timer = application?.backend.timer(after: Deadline.willSave) { [weak self] in self?.giveUp(save)
        }
        Task {
            let began = ContinuousClock.now
            let result: Result<Void, any Error>
            do {
                result = .success(try await RunningSave.$current.withValue(save) { try await ask() })
            } catch {
                result = .failure(error)
            }
            ended(save, result, isLate: began.duration(to: .now) >= Self.patience)
        }
        return save
    }

    /// Asks everybody who has a part in the state.
    private func ask() async throws {
        let acting = application
        try await HandoffApplication.acting(acting) {
            try await closures.onWillSave?(self)
            try await delegate?.userActivityWillSave(self)
            for responder in responders { responder.updateUserActivityState(self) }
        }
    }

    /// - Parameter isLate: whether the broker may wait no more for the answer. Then everything is sent by itself.
    private func ended(_ save: RunningSave, _ result: Result<Void, any Error>, isLate: Bool) {
        guard saving === save else { return ended(givenUp: save, result) }
        saving = nil
        if case .success = result, save.hasNewState {
            if let value = try? content.userInfo.propertyValue() { pending["UserInfo"] = value }
        } else {
            state = save.former
        }
        let changes = pending
        // Who is answered may know the activity no longer: it was created anew meanwhile.
        if case .failure(let error) = result {
            let error = HandoffError(error)
            kitLog.warning(
                "The state of “\(activityType)” was not saved. The last one counts. \(error.message)")
            flush()
            save.settle(.failure(error.failure))
        } else {
            if isLate || number != save.number { flush() }
            pending = [:]
            save.settle(.success(changes))
            if !changes.isEmpty { tellUpdated() }
        }
    }

    /// The save takes longer than the broker waits: everything goes on without it.
    private func giveUp(_ save: RunningSave) {
        guard saving === save else { return }
        saving = nil
        savesGivenUp += 1
        save.draft = state
        state = save.former
        save.changes = stateChanges
        flush()
        let message =
            "The state of “\(activityType)” was not saved within \(Deadline.willSave). The last one counts."
        kitLog.warning(message)
        save.settle(.failure(HandoffFailure(.applicationTimedOut, message)))
    }

    /// A save that was given up has come to its end.
    private func ended(givenUp save: RunningSave, _ result: Result<Void, any Error>) {
        savesGivenUp -= 1
        let draft = save.draft
        save.draft = nil
        guard case .success = result, save.hasNewState, let draft, isValid, saving == nil,
            save.changes == stateChanges
        else { return }
        userInfo = draft.userInfo
        payloadKeys = draft.payloadKeys
        tellUpdated()
    }

    private func tellUpdated() {
        delegate?.userActivityDidUpdate(self)
        if let application { application.delegate?.application(application, didUpdate: self) }
    }
}
