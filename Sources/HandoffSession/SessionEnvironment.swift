// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import Platform

/// The environment of the session, which is what a program gets that a daemon starts: all that the daemon was given,
/// without what was meant for the daemon alone.
package enum SessionEnvironment {
    /// What the bus, systemd and launchers say to one process, and what makes the daemon's own log longer.
    private static let own: Set<String> = [
        "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE", "DESKTOP_STARTUP_ID", "GIO_LAUNCHED_DESKTOP_FILE",
        "GIO_LAUNCHED_DESKTOP_FILE_PID", "G_MESSAGES_DEBUG", "INVOCATION_ID", "JOURNAL_STREAM",
        "LISTEN_FDNAMES",
        "LISTEN_FDS", "LISTEN_PID", "MANAGERPID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE",
        "NOTIFY_SOCKET",
        "SYSTEMD_EXEC_PID", "WATCHDOG_PID", "WATCHDOG_USEC", "XDG_ACTIVATION_TOKEN",
    ]

    /// What a variable that a daemon sets for itself was before; nil if it was not set.
    private static let fileSystems: (name: String, value: String?) = (
        "GIO_USE_VFS", getenv("GIO_USE_VFS").map { String(cString: $0) }
    )

    /// Sets what holds for a daemon alone. To be called before GIO is used.
    package static func prepare() {
        // GIO's remote file systems would open a second connection to the bus. What was set before is kept first.
        setenv(fileSystems.name, "local", 1)
    }

    /// The variables, by their names.
    package static var variables: [String: String] {
        var variables = Variables.all.filter { !own.contains($0.key) }
        variables[fileSystems.name] = fileSystems.value
        return variables
    }
}
