// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// What `handoff copy` is given: a file, or standard input.
struct CopiedInput: Sendable {
    /// The path; nil for standard input.
    private let path: [UInt8]?
    /// What messages call it.
    private let label: String

    /// What is at `path`, or standard input for `-`.
    init(_ path: String) throws(CommandFailure) {
        if path == "-" {
            guard !StandardDescriptors.closed.contains(STDIN_FILENO) else {
                throw .usage(tr("Standard input is closed. Redirect it, or give a file."))
            }
            (self.path, label) = (nil, tr("Standard input"))
        } else {
            (self.path, label) = (ProgramArguments.bytes(of: path), path.inQuotes)
        }
    }

    /// Standard input, if it is a pipe, a file or a socket; nil if it is a terminal or another device, such as `/dev/null`, or was
    /// closed: then nobody has meant it.
    static func standard() throws(CommandFailure) -> CopiedInput? {
        var status = stat()
        guard !StandardDescriptors.closed.contains(STDIN_FILENO), fstat(STDIN_FILENO, &status) == 0,
            status.st_mode & S_IFMT != S_IFCHR
        else { return nil }
        return try CopiedInput("-")
    }

    /// All of it, as what it is.
    /// - Throws: if it cannot be read, is too large, or is nothing that can be copied.
    func content() throws -> ClipboardContent {
        let bytes = try read()
        guard !bytes.isEmpty else {
            throw CommandFailure(tr("{input} is empty: there is nothing to copy.", ["input": label]))
        }
        guard let kind = Self.kind(of: bytes) else {
            throw CommandFailure(
                tr(
                    "{input} is neither text in UTF-8 nor an image in PNG, and only these are copied. "
                        + "Continue a file with “handoff publish FILE”, or in a shared folder.",
                    ["input": label]))
        }
        return try ClipboardContent([(kind, try ClipboardFile(bytes))])
    }

    /// What `bytes` are; nil if nothing that can be copied.
    static func kind(of bytes: [UInt8]) -> ClipboardKind? {
        if ClipboardKind.image.canBegin(with: Array(bytes.prefix(ClipboardKind.headSize))) { return .image }
        let isText = !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
        return isText ? .text : nil
    }

    private func read() throws(CommandFailure) -> [UInt8] {
        guard let path else { return try read(STDIN_FILENO) }
        let number = open(path.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw unreadable }
        defer { close(number) }
        return try read(number)
    }

    private func read(_ descriptor: Int32) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                guard errno == EAGAIN else { throw unreadable }
                // Somebody else has made the pipe non-blocking.
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&entry, 1, -1)
                continue
            }
            bytes += chunk[..<count]
            guard bytes.count <= ClipboardFile.maximum else { throw tooLarge }
        }
    }

    private var unreadable: CommandFailure {
        CommandFailure(tr("{input} cannot be read: {reason}.", ["input": label, "reason": SystemError.last]))
    }

    private var tooLarge: CommandFailure {
        CommandFailure(
            tr(
                "{input} has more than {size} MiB, which is the most that is copied. Continue a file with "
                    + "“handoff publish FILE”, or in a shared folder.",
                ["input": label, "size": "\(ClipboardFile.maximum >> 20)"]), .refused, name: "LimitsExceeded")
    }
}
