// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient
internal import Platform

/// What an application has given to be called.
struct HandoffApplicationClosures {
    var onContinue: (@MainActor (UserActivity, ContinuationDevice) async throws -> Bool)?
    var onWillContinue: (@MainActor (String, ContinuationDevice) -> Bool)?
    var onFailure: (@MainActor (String, HandoffError) -> Void)?
}

extension HandoffApplication {
    /// Calls `body` with each activity that is continued here, where there is no delegate. It returns whether it has
    /// handled the activity; what it throws is shown to the user, or only logged if the activity was ``pending`` for so
    /// long that the desktop waits no more. What has arrived before is handed over then.
    public func onContinue(
        _ body: @escaping @MainActor (UserActivity, ContinuationDevice) async throws -> Bool
    ) {
        closures.onContinue = body
        handOverSoon()
    }
    /// Calls `body` when something of a type is coming, where there is no delegate. It returns whether the application
    /// shows that; otherwise the desktop does.
    public func onWillContinue(_ body: @escaping @MainActor (String, ContinuationDevice) -> Bool) {
        closures.onWillContinue = body
    }
    /// Calls `body` when what was coming does not come, where there is no delegate.
    public func onFailure(_ body: @escaping @MainActor (String, HandoffError) -> Void) {
        closures.onFailure = body
    }

    /// Takes the oldest of ``pending``, which counts as handled from then on.
    /// - Returns: nil if there is none.
    public func takePending() -> UserActivity? {
        guard !kept.isEmpty else { return nil }
        let oldest = kept.removeFirst()
        oldest.settle(.success(true))
        return oldest.activity
    }

    // MARK: What the broker says

    func willContinue(_ type: String, from device: ContinuationDevice) -> Bool {
        Self.acting(self) {
            if let delegate {
                return delegate.application(self, willContinueActivityOfType: type, from: device)
            }
            return closures.onWillContinue?(type, device) ?? false
        }
    }

    func didFail(_ type: String, _ error: HandoffError) {
        Self.acting(self) {
            if let delegate {
                delegate.application(self, didFailToContinueActivityOfType: type, error: error)
            } else if let onFailure = closures.onFailure {
                onFailure(type, error)
            } else {
                warn(of: error, type)
            }
        }
    }

    /// Tells the application's author of a failure that nothing in the application looks at.
    func warn(of error: HandoffError, _ type: String) {
        kitLog.warning("\(id) does not get what was coming, of type \(type): \(error.message)")
    }

    /// An activity has arrived: it is handed over, or kept until somebody asks for it.
    /// - Returns: whether it was handled; true too if it is kept for longer than the broker waits for an answer.
    package func continueActivity(
        _ number: ContinuationKey, _ properties: [String: Value], from device: ContinuationDevice,
        activationToken: String
    ) async throws -> Bool {
        let lease = ContinuationLease(number, self)
        let activity = UserActivity(
            type: properties["ActivityType"]?.string ?? "",
            content: try ActivityContent(received: properties),
            lease: lease, origin: device, activationToken: activationToken, application: self)
        let arrived = KeptActivity(activity, device)
        kept.append(arrived)
        handOver()
        if kept.count > KeptActivity.maximum { giveUpOldest() }
        return try await arrived.outcome(timedBy: backend)
    }

    /// There are too many that nobody has asked for. The broker hands over no ninth while eight have no answer, so the oldest
    /// has one.
    private func giveUpOldest() {
        let error = HandoffError(
            .limitsExceeded,
            "it keeps \(KeptActivity.maximum) other activities already and has not taken any yet.")
        notContinued(error, kept.removeFirst().activity)
    }

    // MARK: Handing over

    /// Hands over what is kept, at the end of this turn of the loop: who sets a delegate may have more to set.
    func handOverSoon() {
        guard !kept.isEmpty else { return }
        Task { handOver() }
    }

    private func handOver() {
        while isReady, delegate != nil || closures.onContinue != nil, !kept.isEmpty {
            let oldest = kept.removeFirst()
            Task {
                do {
                    oldest.settle(.success(try await hand(oldest)))
                } catch {
                    let error = HandoffError(error)
                    oldest.settle(.failure(error.failure))
                    notContinued(error, oldest.activity)
                }
            }
        }
    }

    /// Tells the application's author. If `activity` was kept for long, the broker has been told that it was continued.
    private func notContinued(_ error: HandoffError, _ activity: UserActivity) {
        kitLog.warning(
            "\(id) has not continued what came, of type \(activity.activityType): \(error.message)")
    }

    private func hand(_ arrived: KeptActivity) async throws -> Bool {
        try await Self.acting(self) {
            let activity = arrived.activity
            if let delegate {
                return try await delegate.application(self, continue: activity) { activity.restore($0) }
            }
            return try await closures.onContinue?(activity, arrived.device) ?? false
        }
    }
}
