// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import MainLoop

@testable import HandoffBridge

@MainLoop
extension SocketConnection {
    /// Whether the other side has ended the connection, whatever it has sent before.
    var hasBeenEnded: Bool {
        // This is POLLRDHUP of poll(2), which the headers define only if _GNU_SOURCE is defined.
        var entry = pollfd(fd: descriptor, events: 0x2000, revents: 0)
        return poll(&entry, 1, 0) == 1
    }
}
