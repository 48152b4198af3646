// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffCore
internal import Platform

/// What `handoff publish --stream` sends: a file, as often as it is asked for, or standard input or anything
/// else that can be read only once.
struct PublishedStream: Sendable {
    /// The key in `UserInfo` under which the receiver finds the number of bytes, if that is known.
    static let sizeKey = "StreamSize"
    /// The key in `UserInfo` that says that the sender wants two bytes back: one when the stream has been
    /// taken, and one when everything that came has been written.
    static let confirmationKey = "StreamConfirmation"

    private let path: String
    /// How many bytes there are, if it is a file whose size is known.
    let size: Int?
    /// Which file it is, and in which state; nil for anything that can be read only once.
    private let state: FileIdentity?
    /// The descriptor of what can be read only once.
    private let source: Int32

    /// What is at `path`, or standard input for `-`.
    init(_ path: String) throws(CommandFailure) {
        self.path = path
        if path == "-" {
            guard !StandardDescriptors.closed.contains(STDIN_FILENO) else {
                throw .usage(tr("--stream -: standard input is closed. Redirect it, or give a file."))
            }
            (size, state, source) = (nil, nil, STDIN_FILENO)
            return
        }
        let file = try Self.open(path)
        let status = try Self.status(of: file, path)
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            throw CommandFailure(
                tr(
                    "“{file}” is a folder. Send it with tar: tar c FOLDER | handoff publish --stream -",
                    ["file": path.shown]))
        case S_IFREG:
            // Files of the kernel itself claim to be empty.
            size = status.st_size > 0 ? Int(status.st_size) : nil
            (state, source) = (FileIdentity(status), -1)
        default: (size, state, source) = (nil, nil, file.take())
        }
    }

    /// Whether it can be read only once.
    var isOnce: Bool { state == nil }

    /// What the receiver is told in `UserInfo`.
    var userInfo: [String: Value] {
        var userInfo: [String: Value] = [Self.confirmationKey: .boolean(true)]
        if let size { userInfo[Self.sizeKey] = .int64(Int64(size)) }
        return userInfo
    }

    /// Opens what is to be read, at its beginning.
    /// - Throws: if it has changed.
    func open() throws -> FileDescriptor {
        guard let state else {
            let copy = fcntl(source, F_DUPFD_CLOEXEC, 3)
            guard copy >= 0 else { throw Self.failure(path) }
            return FileDescriptor(owning: copy)
        }
        let file = try Self.open(path)
        guard FileIdentity(try Self.status(of: file, path)) == state else {
            throw HandoffFailure(
                .applicationFailed,
                tr("“{file}” has changed since it was published. Publish it again.", ["file": path.shown]))
        }
        return file
    }

    private static func open(_ path: String) throws(CommandFailure) -> FileDescriptor {
        let number = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw failure(path) }
        return FileDescriptor(owning: number)
    }

    private static func status(
        of file: borrowing FileDescriptor, _ path: String
    ) throws(CommandFailure) -> stat {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw failure(path) }
        return status
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(
            tr("“{file}” cannot be read: {reason}.", ["file": path.shown, "reason": SystemError.last]))
    }
}
