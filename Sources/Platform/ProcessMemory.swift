// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// The memory of this process.
package enum ProcessMemory {
    /// Gives free memory back to the system (malloc_trim(3)), which takes milliseconds if there is a lot.
    package static func returnFree() { _ = malloc_trim(0) }
}
