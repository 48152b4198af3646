// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc

/// This process's user id, as the bus tells it.
func getUserID() -> UInt32 { getuid() }

/// This process's id, as the bus tells it.
func getProcessID() -> UInt32 { UInt32(getpid()) }
