// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

extension HandoffClient {
    /// Opens a stream to the application that the activity comes from.
    /// - Returns: this side's end, which is a connected stream socket.
    /// - Throws: what the broker answers; `UnknownObject` if the continuation has ended before, also with its broker;
    ///   `ConnectionUnavailable` if the broker ends meanwhile, or what it has sent is no stream.
    package func openStream(_ key: ContinuationKey) async throws -> FileDescriptor {
        guard let continuation = continuation(key) else {
            throw DBusError.unknownObject("The continuation has ended. Continue the activity again.")
        }
        let end = FileDescriptor(
            owning: try await streams.wait { try await continuation.openStream().take() })
        try StreamSocket.check(
            end, or: .connectionUnavailable,
            remedy: "Continue the activity again; if that does not help, see which program has the bus name"
                + " \(HandoffNames.broker).")
        return end
    }

    /// Ends the continuation: no more streams are needed. Harmless if it has ended already.
    package func release(_ key: ContinuationKey) {
        guard let continuation = continuation(key) else { return }
        _ = continuations.release(key)
        MainLoop.start { try? await continuation.release() }
    }

    private func continuation(_ key: ContinuationKey) -> ContinuationProxy? {
        guard let broker, let path = continuations.path(of: key) else { return nil }
        return ContinuationProxy(broker.object(path))
    }
}
