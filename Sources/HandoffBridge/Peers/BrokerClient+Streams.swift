// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What the broker is told of streams.
extension BrokerClient {
    /// Tells the broker that there is a stream.
    func streamOpened(_ stream: Stream) {
        guard let owner else { return }
        MainLoop.start { [weak self] in
            guard let self, let end = stream.copyOfEnd() else { return }
            do {
                try await manager(owner).streamOpened(
                    number: stream.number, deviceId: stream.owner.device.description,
                    continuation: stream.owner.continuation.description, isOrigin: stream.owner.isOrigin,
                    bridgeEnd: end)
            } catch {
                bridgeLog(level, "The broker did not take \(stream.label): \(error)")
            }
        }
    }

    /// Tells the broker that a stream is over.
    func streamClosed(_ stream: Stream) {
        guard let owner else { return }
        MainLoop.start { [weak self] in
            guard let self else { return }
            do {
                try await manager(owner).streamClosed(number: stream.number)
            } catch {
                bridgeLog.debug("The broker did not hear of the end of \(stream.label): \(error)")
            }
        }
    }
}
