// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGTK

/// What a signal calls.
@MainActor
private final class Handler {
    let body: @MainActor (OpaquePointer?) -> Bool

    init(_ body: @escaping @MainActor (OpaquePointer?) -> Bool) { self.body = body }

    /// The function for every signal: since it is connected as "swapped", the handler comes first, whatever the signal has for
    /// arguments. Signals without an answer ignore what this returns.
    nonisolated static let call: @convention(c) (gpointer?, gpointer?) -> gboolean = { data, argument in
        guard let data else { return 0 }
        // GTK calls on the thread that runs its loop, which is that of the main actor, and nowhere else.
        let handler = Unmanaged<Handler>.fromOpaque(data).takeUnretainedValue()
        nonisolated(unsafe) let argument = argument.map { OpaquePointer($0) }
        return MainActor.assumeIsolated { handler.body(argument) ? 1 : 0 }
    }
}

extension GTKObject {
    /// Calls `body` each time that the object sends `signal`, for as long as the object lives.
    package func on(_ signal: String, _ body: @escaping @MainActor () -> Void) {
        connect(signal) { _ in
            body()
            return false
        }
    }

    /// Like ``on(_:_:)``, with the first argument of the signal, which has to be a pointer.
    package func on(_ signal: String, first body: @escaping @MainActor (OpaquePointer) -> Void) {
        connect(signal) { argument in
            if let argument { body(argument) }
            return false
        }
    }

    /// Like ``on(_:_:)``, for a signal that wants an answer, such as whether it has been dealt with.
    package func answer(_ signal: String, _ body: @escaping @MainActor () -> Bool) {
        connect(signal) { _ in body() }
    }

    private func connect(_ signal: String, _ body: @escaping @MainActor (OpaquePointer?) -> Bool) {
        g_signal_connect_data(
            UnsafeMutableRawPointer(pointer), signal, unsafeBitCast(Handler.call, to: GCallback.self),
            Unmanaged.passRetained(Handler(body)).toOpaque(),
            { data, _ in if let data { Unmanaged<Handler>.fromOpaque(data).release() } }, G_CONNECT_SWAPPED)
    }
}
