// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// The session bus of this process's environment.
package enum SessionBus {
    /// Whether there is one to connect to. If not, libdbus would start one with nobody else on it.
    package static var isKnown: Bool {
        if let address = getenv("DBUS_SESSION_BUS_ADDRESS"), address.pointee != 0 { return true }
        guard let directory = getenv("XDG_RUNTIME_DIR") else { return false }
        return access(String(cString: directory) + "/bus", F_OK) == 0
    }
}
