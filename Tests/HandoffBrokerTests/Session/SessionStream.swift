// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffInterfaces
import MainLoop

/// An application's end of a stream, which is open as long as this is there.
@MainLoop
final class SessionStream {
    private let end: FileDescriptor

    init(_ end: consuming FileDescriptor) { self.end = end }
}

extension SessionClient {
    /// Opens a stream of what it was handed last.
    func openStream() async throws -> SessionStream {
        guard case .objectPath(let path)? = handed.last?.context["Continuation"] else {
            throw DBusError(.failed, "It was handed nothing.")
        }
        return SessionStream(try await ContinuationProxy(object(path)).openStream())
    }
}
