// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import MainLoop

/// The streams that a broker was asked to open. Nobody waits for one any longer than that broker is the broker: one that has
/// lost its name may still be there, and never answer.
@MainLoop
final class StreamRequests {
    private var underWay: [Int: Task<CInt, any Error>] = [:]
    private var last = 0

    /// What `open` gives, which the caller has to close.
    /// - Throws: what `open` throws; ``HandoffClient/brokerEnded`` if ``end()`` is called before;
    ///   `CancellationError` if the task is cancelled.
    func wait(_ open: @escaping @MainLoop @Sendable () async throws -> CInt) async throws -> CInt {
        last += 1
        let number = last
        let opening = MainLoop.start { try await open() }
        underWay[number] = opening
        do {
            let descriptor = try await withTaskCancellationHandler {
                try await opening.value
            } onCancel: {
                opening.cancel()
            }
            guard underWay.removeValue(forKey: number) != nil else {
                close(descriptor)
                throw HandoffClient.brokerEnded
            }
            return descriptor
        } catch is CancellationError {
            let isOurs = underWay.removeValue(forKey: number) == nil
            throw isOurs ? HandoffClient.brokerEnded : CancellationError()
        } catch {
            underWay[number] = nil
            throw error
        }
    }

    /// The broker has ended, or is another.
    func end() {
        let all = underWay
        underWay = [:]
        for opening in all.values { opening.cancel() }
    }
}
