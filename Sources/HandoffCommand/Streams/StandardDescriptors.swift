// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// Standard input, output and error, some of which the caller may have closed.
enum StandardDescriptors {
    /// Opens `/dev/null` in place of each one that is closed. Otherwise the next thing that is opened would
    /// get its number, and text for the user might be written to the bus. To be called before anything is
    /// opened.
    /// - Returns: the numbers of those that were closed.
    private static func fill() -> Set<Int32> {
        var closed: Set<Int32> = []
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            closed.insert(number)
            // This is the lowest free number, so it is the one that is used.
            _ = open("/dev/null", O_RDWR)
        }
        return closed
    }

    /// The descriptors that were closed when the program began.
    static let closed = fill()
}
