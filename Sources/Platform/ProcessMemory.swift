// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// The memory of this process.
public enum ProcessMemory {
    /// Gives what is free of it back to the system (malloc_trim(3)), which takes milliseconds if there is much.
    public static func returnFree() { _ = malloc_trim(0) }
}
