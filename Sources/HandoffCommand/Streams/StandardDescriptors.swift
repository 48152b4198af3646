// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// Standard input, output and error, of which the caller may have closed some.
enum StandardDescriptors {
    /// Puts `/dev/null` where one is closed: else the next thing that is opened would get its number, and what is meant for
    /// the user would be written to the bus. To be called before anything is opened.
    /// - Returns: the numbers of those that were closed.
    private static func fill() -> Set<Int32> {
        var closed: Set<Int32> = []
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            closed.insert(number)
            // The lowest number that is free is this one.
            _ = open("/dev/null", O_RDWR)
        }
        return closed
    }

    /// Those that were closed when the program began.
    static let closed = fill()
}
