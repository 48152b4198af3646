// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import MainLoop
internal import Platform

/// Bytes, put together to lines as they come.
struct LineSplitter {
    /// A line and its number, the first of which is 1.
    struct Line: Equatable {
        let number: Int
        /// Its bytes, without the line break; nil if it is too long.
        let bytes: [UInt8]?
    }

    private let limit: Int
    private var begun: [UInt8] = []
    private var isTooLong = false
    private var count = 0

    /// Lines of at most `limit` bytes.
    init(limit: Int) { self.limit = limit }

    /// The lines that end in `bytes`, which follow what was added before.
    mutating func add(_ bytes: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var rest = bytes[...]
        while let place = rest.firstIndex(of: UInt8(ascii: "\n")) {
            keep(rest[..<place])
            lines.append(take())
            rest = rest[(place + 1)...]
        }
        keep(rest)
        return lines
    }

    /// The line that has no line break, since nothing follows.
    mutating func end() -> Line? { begun.isEmpty && !isTooLong ? nil : take() }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        if isTooLong { return }
        if begun.count + bytes.count > limit {
            (begun, isTooLong) = ([], true)
        } else {
            begun += bytes
        }
    }

    private mutating func take() -> Line {
        count += 1
        defer { (begun, isTooLong) = ([], false) }
        return Line(number: count, bytes: isTooLong ? nil : begun)
    }
}

/// The lines of standard input.
@MainLoop
enum InputLines {
    /// How long a line may be, in bytes.
    static let maximumLine = 256 << 10
    private nonisolated static let chunkSize = 64 << 10

    /// Calls `body` with each line, to the end of standard input. No more is read while it works on what was read.
    /// - Throws: why it cannot be read.
    static func read(_ body: (LineSplitter.Line) -> Void) async throws(CommandFailure) {
        var splitter = LineSplitter(limit: maximumLine)
        while true {
            let chunk: [UInt8]
            do {
                chunk = try await BackgroundThread.run("input") { try next() }
            } catch let error as GLibError {
                throw CommandFailure(
                    tr("No thread could be started: {reason}.", ["reason": error.message]))
            } catch {
                throw CommandFailure(error)
            }
            for line in splitter.add(chunk) { body(line) }
            guard chunk.isEmpty else { continue }
            if let line = splitter.end() { body(line) }
            return
        }
    }

    /// The next bytes, none at the end; waits for them.
    private nonisolated static func next() throws(CommandFailure) -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: chunkSize)
        while true {
            let count = Glibc.read(STDIN_FILENO, &chunk, chunk.count)
            if count >= 0 { return Array(chunk[..<count]) }
            if errno == EAGAIN {
                // Somebody else has made it non-blocking.
                var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                _ = poll(&entry, 1, -1)
            } else if errno != EINTR {
                throw CommandFailure(
                    tr("Standard input cannot be read: {reason}.", ["reason": SystemError.last]))
            }
        }
    }
}
