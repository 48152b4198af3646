// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import MainLoop

@testable import HandoffBridge

@MainLoop
extension SocketConnection {
    /// Whether the other side has ended it, whatever it has sent before.
    var hasBeenEnded: Bool {
        // POLLRDHUP of poll(2), which the headers show GNU's own programs alone.
        var entry = pollfd(fd: descriptor, events: 0x2000, revents: 0)
        return poll(&entry, 1, 0) == 1
    }
}
