// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// The environment variables that GIO has to find before it is first used.
package enum ProcessEnvironment {
    /// To be called before anything else in the process, while it has one thread.
    package static func prepare() {
        // The only way to tell GIO's TLS which versions it may speak. AES-128 comes first: it is as good and
        // costs a third less, which counts for streams. There are no tickets, since a session is never
        // resumed.
        g_setenv(
            "G_TLS_GNUTLS_PRIORITY",
            "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:%NO_TICKETS",
            1)
        // GIO's remote file systems, settings and NetworkManager support open connections to buses of their
        // own.
        g_setenv("GIO_USE_VFS", "local", 1)
        g_setenv("GSETTINGS_BACKEND", "memory", 1)
        g_setenv("GIO_USE_NETWORK_MONITOR", "netlink", 1)
    }
}
