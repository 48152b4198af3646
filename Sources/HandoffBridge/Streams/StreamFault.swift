// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// Why a stream cannot go on.
struct StreamFault: Error, CustomStringConvertible {
    let description: String

    /// The error that the last system call has reported.
    static var system: StreamFault { StreamFault(description: SystemError.last) }
}
