// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import Platform

/// The last commands of the shell that the program was called from. Which these are only the shell itself knows; its history
/// file has those of the last time, unless the shell adds to it at once.
enum CommandHistory {
    /// How many lines count.
    static let maximumCount = 20
    /// How much is looked at, in bytes, at the end.
    private static let maximumSize = 64 << 10

    /// The lines of the standard input, or if that is a terminal, of the history file.
    /// - Throws: if there is no history.
    static func read() throws(CommandFailure) -> [String] {
        if isatty(STDIN_FILENO) == 0 { return lines(end(of: STDIN_FILENO)) }
        guard let path = path() else {
            throw CommandFailure(
                tr(
                    "It is not known where this shell keeps its history. Say “fc -ln -20 | handoff here --history”."
                )
            )
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw CommandFailure(
                tr(
                    "“{path}” cannot be read: {reason}. Say “fc -ln -20 | handoff here --history”.",
                    ["path": path.shown, "reason": SystemError.last])
            )
        }
        defer { close(descriptor) }
        let size = lseek(descriptor, 0, SEEK_END)
        lseek(descriptor, max(0, size - maximumSize), SEEK_SET)
        return lines(end(of: descriptor))
    }

    private static func path() -> String? {
        let variables = Variables.all
        if let file = variables["HISTFILE"], file.hasPrefix("/") { return file }
        let home = UserDirectories.home
        switch variables["SHELL"]?.split(separator: "/").last {
        case "bash"?: return "\(home)/.bash_history"
        case "zsh"?: return "\(home)/.zsh_history"
        default: return nil
        }
    }

    /// The last bytes that can be read of `descriptor`.
    private static func end(of descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            if bytes.count > 2 * maximumSize { bytes.removeFirst(bytes.count - maximumSize) }
        }
    }

    /// The last commands in what a history file holds: without the times that bash and zsh add to them, and without white
    /// space around them.
    static func lines(_ bytes: [UInt8]) -> [String] {
        let all = bytes.split(separator: UInt8(ascii: "\n")).compactMap { line -> String? in
            var text = String(decoding: line, as: UTF8.self)
            if text.hasPrefix("#"), text.dropFirst().allSatisfy(\.isNumber), text.count > 1 { return nil }
            if text.hasPrefix(": "), let end = text.firstIndex(of: ";") {
                text = String(text[text.index(after: end)...])
            }
            while text.first?.isWhitespace == true { text.removeFirst() }
            while text.last?.isWhitespace == true { text.removeLast() }
            return text.isEmpty ? nil : text
        }
        return Array(all.suffix(maximumCount))
    }
}
