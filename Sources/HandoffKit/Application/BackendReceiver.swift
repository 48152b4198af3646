// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffCore

/// Tells an application, which it does not keep, and its activities what happens.
@MainActor
final class BackendReceiver: HandoffBackendReceiver {
    private weak var application: HandoffApplication?

    init(_ application: HandoffApplication) { self.application = application }

    func standingChanged(_ standing: HandoffStanding) { application?.standingChanged(standing) }

    func currentChanged(_ number: ActivityNumber, _ isCurrent: Bool) {
        guard let activity = application?.activity(number), activity.isCurrent != isCurrent else { return }
        activity.isCurrent = isCurrent
    }

    func needsSaveChanged(_ number: ActivityNumber, _ needsSave: Bool) {
        // The application sets it and a save clears it, here too, and before the broker says so: what it says may be out
        // of date.
    }

    func created(_ number: ActivityNumber, type: String) {
        application?.activity(number)?.created(type: type)
    }

    func refused(_ number: ActivityNumber, _ failure: HandoffFailure, restored: [String: Value?]) {
        application?.activity(number)?.refused(HandoffError(failure), restored: restored)
    }

    func willSave(_ number: ActivityNumber) async throws -> [String: Value] {
        guard let activity = application?.activity(number) else { return [:] }
        return try await activity.save()
    }

    func wasContinued(_ number: ActivityNumber, on device: ContinuationDevice) {
        application?.activity(number)?.wasContinued(on: device)
    }

    func didReceiveStream(_ number: ActivityNumber, _ descriptor: CInt) {
        guard let activity = application?.activity(number) else {
            close(descriptor)
            return
        }
        activity.didReceiveStream(descriptor)
    }

    func willContinue(_ number: ContinuationNumber, type: String, from device: ContinuationDevice) async
        -> Bool
    {
        application?.willContinue(type, from: device) ?? false
    }

    func continueActivity(
        _ number: ContinuationNumber, _ activity: [String: Value], from device: ContinuationDevice,
        activationToken: String
    ) async throws -> Bool {
        guard let application else { return false }
        do {
            return try await application.continueActivity(
                number, activity, from: device, activationToken: activationToken)
        } catch {
            // What D-Bus carries is a failure of ours, whatever the application throws.
            throw HandoffError(error).failure
        }
    }

    func didFailToContinue(_ number: ContinuationNumber?, type: String, _ failure: HandoffFailure) {
        application?.didFail(type, HandoffError(failure))
    }
}
