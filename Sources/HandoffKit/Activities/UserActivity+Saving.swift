// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import FoundationEssentials
internal import HandoffCore
internal import HandoffInterfaces

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
    /// ``userInfo`` is empty then; what is put there is the whole new state. If nothing is, the former stays. After two
    /// seconds, or if `body` throws, the former state is handed off.
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

    /// The broker needs the state. Saves come one after the other.
    /// - Returns: what has changed.
    func save() async throws -> [String: Value] {
        while let former = saving { _ = try? await former.value }
        // Everything up to here happens in one turn, so that no second save can begin.
        let task = Task { try await saveNow() }
        saving = task
        return try await task.value
    }

    private func saveNow() async throws -> [String: Value] {
        let began = ContinuousClock.now
        clearNeedsSave()
        let former = (userInfo: userInfo, keys: payloadKeys, isUnsent: pending["UserInfo"] != nil)
        userInfo = UserInfo()
        hasNewUserInfo = false
        payloadKeys = []
        let result: Result<Void, any Error>
        do {
            result = .success(try await ask())
        } catch {
            result = .failure(error)
        }
        if hasNewUserInfo == false || (try? result.get()) == nil {
            userInfo = former.userInfo
            payloadKeys = former.keys
            if !former.isUnsent { pending["UserInfo"] = nil }
        }
        hasNewUserInfo = nil
        saving = nil
        return try saved(result, isLate: began.duration(to: .now) >= Self.patience)
    }

    /// After which the broker may not wait for the answer any more: it waits longer, but has begun to before.
    private static let patience = Deadline.willSave / 8

    /// - Parameter isLate: whether the broker may wait no more for the answer. Then everything is sent by itself.
    /// - Returns: what has changed since the broker was told last.
    private func saved(_ result: Result<Void, any Error>, isLate: Bool) throws -> [String: Value] {
        let changes = pending
        if case .failure(let error) = result {
            flush()
            throw HandoffError(error).failure
        }
        if isLate { flush() }
        pending = [:]
        if !changes.isEmpty { tellUpdated() }
        return changes
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

    private func tellUpdated() {
        delegate?.userActivityDidUpdate(self)
        if let application { application.delegate?.application(application, didUpdate: self) }
    }
}
