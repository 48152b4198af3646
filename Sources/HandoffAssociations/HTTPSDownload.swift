// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CSoup
internal import Glibc

/// Fetches a file by HTTPS, with nothing that a browser has: no redirects, cookies, proxies, passwords or compression.
enum HTTPSDownload {
    /// How long one file may take, in seconds.
    private static let deadline: UInt32 = 5

    /// Fetches what is at `address`, an `https` one.
    static func file(_ address: String) -> SiteQuestion.Fetched {
        // One protocol is enough, and it is the simpler one.
        setenv("SOUP_FORCE_HTTP1", "1", 1)
        // GLib's networking would take TLS 1.0 and 1.1 too, which RFC 8996 forbids.
        setenv("G_TLS_GNUTLS_PRIORITY", "NORMAL:%COMPAT:-VERS-TLS1.1:-VERS-TLS1.0", 1)
        guard let session = soup_session_new() else { return .unreachable(reason: "no memory is left.") }
        defer { g_object_unref(UnsafeMutableRawPointer(session)) }
        soup_session_set_proxy_resolver(session, nil)
        soup_session_set_timeout(session, deadline)
        soup_session_set_user_agent(session, "Handoff")
        soup_session_remove_feature_by_type(session, soup_content_decoder_get_type())
        soup_session_remove_feature_by_type(session, soup_auth_manager_get_type())
        guard let message = soup_message_new("GET", address) else {
            return .unreachable(reason: "this is not an address.")
        }
        defer { g_object_unref(UnsafeMutableRawPointer(message)) }
        soup_message_add_flags(message, guint(HANDOFF_SOUP_NO_REDIRECT))
        guard let cancellable = g_cancellable_new() else { return .unreachable(reason: "no memory is left.") }
        defer { g_object_unref(cancellable) }
        setAlarm(cancellable)
        return receive(session, message, cancellable)
    }

    private static func receive(
        _ session: OpaquePointer?, _ message: OpaquePointer?,
        _ cancellable: UnsafeMutablePointer<GCancellable>
    ) -> SiteQuestion.Fetched {
        var error: UnsafeMutablePointer<GError>?
        guard let stream = soup_session_send(session, message, cancellable, &error) else {
            return .unreachable(reason: reason(error))
        }
        defer { g_object_unref(stream) }
        switch soup_message_get_status(message) {
        case 200: break
        case 404, 410: return .absent(reason: "there is no such file.")
        case let status where 300..<400 ~= status:
            return .refused(reason: "it is elsewhere (status \(status)), and redirects are not followed.")
        case let status: return .refused(reason: "the answer is status \(status).")
        }
        return body(stream, cancellable)
    }

    /// Reads at most one byte more than there may be.
    private static func body(
        _ stream: UnsafeMutablePointer<GInputStream>, _ cancellable: UnsafeMutablePointer<GCancellable>
    ) -> SiteQuestion.Fetched {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while bytes.count <= SiteQuestion.maximumSize {
            var error: UnsafeMutablePointer<GError>?
            let count = g_input_stream_read(stream, &chunk, gsize(chunk.count), cancellable, &error)
            guard count >= 0 else { return .unreachable(reason: reason(error)) }
            if count == 0 { return .file(bytes) }
            bytes += chunk[..<count]
        }
        return .tooLong
    }

    private static func reason(_ error: UnsafeMutablePointer<GError>?) -> String {
        guard let error else { return "it cannot be fetched." }
        defer { g_error_free(error) }
        if g_error_matches(error, g_io_error_quark(), Int32(G_IO_ERROR_CANCELLED.rawValue)) != 0 {
            return "it did not come within \(deadline) s."
        }
        return "it cannot be fetched: \(String(cString: error.pointee.message))."
    }

    /// Cancels `cancellable` once the time is over, from a thread of its own, since what it cancels blocks this one. The
    /// thread ends with the process, if not before.
    private static func setAlarm(_ cancellable: UnsafeMutablePointer<GCancellable>) {
        let thread = g_thread_new(
            "deadline",
            { data in
                guard let data else { return nil }
                g_usleep(gulong(HTTPSDownload.deadline) * 1_000_000)
                g_cancellable_cancel(data.assumingMemoryBound(to: GCancellable.self))
                g_object_unref(data)
                return nil
            }, g_object_ref(cancellable))
        g_thread_unref(thread)
    }
}
