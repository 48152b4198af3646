// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffCore

/// What happens on the main loop, on its way to the main actor. Each question has to be answered once.
enum BusEvent: Sendable {
    /// An activity that is handed over.
    struct Handed: Sendable {
        let number: ContinuationKey
        let activity: [String: Value]
        let device: ContinuationDevice
        let activationToken: String
    }

    typealias Answer<Success: Sendable> = CheckedContinuation<Result<Success, HandoffFailure>, Never>

    case standing(HandoffStanding)
    case current(ActivityKey, Bool)
    case created(ActivityKey, type: String)
    /// The last is how many turns the main loop had taken over by then; see ``BusBackend``.
    case refused(ActivityKey, HandoffFailure, restored: [String: Value?], turn: UInt64)
    case willSave(ActivityKey, Answer<[String: Value]>)
    case wasContinued(ActivityKey, ContinuationDevice)
    /// The descriptor has to be closed by whoever takes the event.
    case stream(ActivityKey, CInt)
    case willContinue(type: String, ContinuationDevice, CheckedContinuation<Bool, Never>)
    case continueActivity(Handed, Answer<Bool>)
    case failed(type: String, HandoffFailure)

    /// Nobody takes it any more.
    func refuse() {
        let failure = HandoffFailure(.applicationFailed, "This application is about to end.")
        switch self {
        case .willSave(_, let answer): answer.resume(returning: .failure(failure))
        case .willContinue(_, _, let answer): answer.resume(returning: false)
        case .continueActivity(_, let answer): answer.resume(returning: .failure(failure))
        case .stream(_, let descriptor): close(descriptor)
        case .standing, .current, .created, .refused, .wasContinued, .failed: break
        }
    }
}
