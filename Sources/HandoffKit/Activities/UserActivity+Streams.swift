// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
internal import HandoffCore

/// Keeps a continuation for as long as something needs it: the activity that it has brought, and its streams.
@MainActor
final class ContinuationLease {
    let number: ContinuationKey
    private weak var application: HandoffApplication?

    init(_ number: ContinuationKey, _ application: HandoffApplication) {
        self.number = number
        self.application = application
    }

    isolated deinit { application?.backend.release(number) }
}

extension UserActivity {
    /// Opens a stream to the application that this activity comes from, which gets its other end. There may be several.
    /// - Throws: ``HandoffError/Code/streamsNotSupported`` unless this was continued from another device, where
    ///   ``supportsContinuationStreams`` was set.
    public func continuationStream() async throws(HandoffError) -> ContinuationStream {
        guard let lease, let application else {
            throw HandoffError(
                .streamsNotSupported,
                "Streams are opened by who has continued an activity from another device. This one is of here."
            )
        }
        do throws(HandoffFailure) {
            let descriptor = try await application.backend.openStream(lease.number)
            return ContinuationStream(owning: descriptor, lease: lease)
        } catch {
            throw HandoffError(error)
        }
    }

    /// The continuing application has opened a stream.
    func didReceiveStream(_ descriptor: CInt) {
        let stream = ContinuationStream(owning: descriptor)
        HandoffApplication.acting(application) {
            if let onStream = closures.onStream {
                onStream(self, stream)
            } else {
                delegate?.userActivity(self, didReceive: stream)
            }
        }
    }

    /// Another device has continued the activity.
    func wasContinued(on device: ContinuationDevice) {
        HandoffApplication.acting(application) {
            closures.onWasContinued?(self, device)
            delegate?.userActivityWasContinued(self, on: device)
        }
    }
}
