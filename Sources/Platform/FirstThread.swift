// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// The thread that a process begins with, on which programs with windows draw them.
package enum FirstThread {
    /// Whether the calling thread is that one.
    package static var isHere: Bool { handoff_gettid() == getpid() }
}
