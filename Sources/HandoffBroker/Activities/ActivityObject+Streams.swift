// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces

extension ActivityObject {
    /// Gives the delegate its end of a stream that a peer has opened.
    /// - Throws: `streamsNotSupported`, `applicationTimedOut` or `applicationFailed` unless it takes it.
    func receiveStream(_ stream: consuming FileDescriptor) async throws {
        do {
            try await delegateProxy.didReceiveStream(
                activity: path, stream: stream, timeout: Deadline.streamTaking)
        } catch {
            let error = DBusError.converting(error)
            switch error.name {
            case _ where error.saysThatMemberIsMissing:
                throw HandoffFailure(
                    .streamsNotSupported,
                    "\(applicationID) takes no streams, although its activity says so: it has no DidReceiveStream."
                )
            case .noReply:
                throw HandoffFailure(
                    .applicationTimedOut, "\(applicationID) did not take the stream in time. Try again later."
                )
            default:
                throw HandoffFailure(
                    .applicationFailed,
                    "\(applicationID) refused the stream: \(PeerText.message(error.message))")
            }
        }
    }
}
