// SPDX-License-Identifier: LGPL-2.1-or-later

extension Continuation {
    /// The user does not want it any more. Fails, and changes nothing, with `notSupported` once the application may have
    /// been handed the activity, and with `unknownObject` once the outcome has been told.
    package mutating func cancel() throws(HandoffFailure) -> [Action] {
        switch state {
        case .preparing: return fail(.cancelled(offer))
        case .delivering, .opening: throw .tooLateToCancel(offer, target)
        case .new, .continued, .failed: throw .nothingToCancel(offer)
        }
    }

    /// The user keeps `application` out from now on, which is what continues the activity. What has been delivered by then
    /// continues.
    package mutating func excluded(_ application: ApplicationID) -> [Action] {
        guard case .preparing = state else { return [] }
        return fail(.excluded(application))
    }
}
