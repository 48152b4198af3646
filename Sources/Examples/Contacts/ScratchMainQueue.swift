// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import Dispatch
import Glibc

@_silgen_name("_dispatch_get_main_queue_handle_4CF") private func mainQueueHandle() -> Int32
@_silgen_name("_dispatch_main_queue_callback_4CF") private func drainMainQueue(
    _ data: UnsafeMutableRawPointer?)

@MainActor func runMainActorOnGLib() {
    g_unix_fd_add(
        mainQueueHandle(), G_IO_IN,
        { fd, _, _ in
            var count: UInt64 = 0
            _ = read(fd, &count, 8)
            drainMainQueue(nil)
            return 1
        }, nil)
}
