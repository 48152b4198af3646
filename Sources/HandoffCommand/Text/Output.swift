// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import Platform

/// What the command prints: whole lines, or bytes, written immediately, so that a reader at the other end of a pipe
/// gets them immediately.
enum Output {
    /// Writes a line to standard output, in the characters of the locale.
    /// - Throws: if it cannot be written.
    static func line(_ text: String) throws(CommandFailure) {
        try bytes(Array((Terminal.fit(text) + "\n").utf8))
    }

    /// Writes bytes to standard output as they are.
    /// - Throws: if they cannot be written.
    static func bytes(_ bytes: [UInt8]) throws(CommandFailure) {
        guard write(bytes, to: STDOUT_FILENO) else {
            throw CommandFailure(
                tr("Standard output cannot be written: {reason}.", ["reason": SystemError.last]))
        }
    }

    /// Writes a JSON value to standard output, on a line of its own.
    /// - Throws: if it cannot be written.
    static func json(_ value: JSON) throws(CommandFailure) {
        try line(value.text(isASCII: !Terminal.isUnicode))
    }

    /// Writes a JSON value to standard error, on a line of its own.
    static func jsonNote(_ value: JSON) {
        _ = write(value.text(isASCII: !Terminal.isUnicode) + "\n", to: STDERR_FILENO)
    }

    /// Writes lines to standard output.
    static func lines(_ lines: [String]) throws(CommandFailure) {
        if !lines.isEmpty { try line(lines.joined(separator: "\n")) }
    }

    /// Says why a command has failed: to the user on standard error, and as JSON also to the program that reads standard
    /// output, in an object of its own; `besideBytes`: that output is for bytes, so that the object goes to standard error.
    static func failure(_ failure: CommandFailure, asJSON: Bool, besideBytes: Bool = false) {
        let object: JSON = ["error": failure.json]
        if asJSON, besideBytes { jsonNote(object) } else if asJSON { try? json(object) }
        note(failure.message)
    }

    /// Tells the user something on standard error, after the program's name.
    static func note(_ text: String) { _ = write("handoff: \(Terminal.fit(text))\n", to: STDERR_FILENO) }

    /// Writes the text to standard error, in the characters of the locale, and returns whether that was possible.
    @discardableResult
    static func error(_ text: String) -> Bool { write(Terminal.fit(text), to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        write(Array(text.utf8), to: descriptor)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
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
