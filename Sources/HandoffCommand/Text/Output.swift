// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import Platform

/// What the command prints: whole lines, written immediately, so that a reader at the other end of a pipe
/// gets them immediately.
enum Output {
    /// Writes a line to standard output.
    /// - Throws: if it cannot be written.
    static func line(_ text: String) throws(CommandFailure) {
        guard write(text + "\n", to: STDOUT_FILENO) else {
            throw CommandFailure("Standard output cannot be written: \(SystemError.last).")
        }
    }

    /// Writes lines to standard output.
    static func lines(_ lines: [String]) throws(CommandFailure) {
        if !lines.isEmpty { try line(lines.joined(separator: "\n")) }
    }

    /// Tells the user something on standard error, after the program's name.
    static func note(_ text: String) { _ = write("handoff: \(text)\n", to: STDERR_FILENO) }

    /// Writes the text to standard error as it is, and returns whether that was possible.
    @discardableResult
    static func error(_ text: String) -> Bool { write(text, to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Somebody else has made the pipe non-blocking.
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = Glibc.poll(&poll, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
