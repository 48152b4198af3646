// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import MainLoop
internal import Platform

/// A Unix socket at a path of the file system, to which nobody but this user can connect.
@MainLoop
final class ListeningSocket {
    /// How many connections the kernel keeps until they are taken.
    private static let backlog: Int32 = 64

    private let path: String
    private let descriptor: Int32
    /// Which file it is; nil if that is not known.
    private let identity: Identity?
    private let body: @MainLoop (Int32) async -> Void
    private var source: DescriptorSource?
    private var pause: LoopSource?
    /// Whether nothing more is taken.
    private var isOver = false

    private struct Identity: Equatable {
        let device: dev_t
        let number: ino_t

        /// What is at `path`; nil if nothing is.
        init?(_ path: String) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    /// Listens, and has each connection taken over by `body`, one after the other.
    /// - Throws: why it cannot listen there.
    init(_ path: String, _ body: @escaping @MainLoop (Int32) async -> Void) throws(CommandFailure) {
        (self.path, self.body) = (path, body)
        try Self.makeWay(at: path)
        descriptor = try Self.open(path)
        identity = Identity(path)
        watch()
    }

    isolated deinit {
        source?.cancel()
        close(descriptor)
    }

    /// Listens no more, and removes the socket, unless something else is there by now.
    func end() {
        isOver = true
        (source, pause) = (nil, nil)
        if let identity, Identity(path) == identity { unlink(path) }
    }

    // MARK: Connections

    private func watch() {
        pause = nil
        source = DescriptorSource(descriptor, .readable) { [weak self] _ in self?.take() }
    }

    private func take() {
        let connection = Glibc.accept(descriptor, nil, nil)
        let number = errno
        if connection < 0, [EAGAIN, EINTR, ECONNABORTED].contains(number) { return }
        source = nil
        guard connection >= 0 else {
            // Without free descriptors it would be ready again at once.
            pause = .timer(after: .seconds(1)) { [weak self] in self?.watch() }
            return
        }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        let body = body
        MainLoop.start { [weak self] in
            await body(connection)
            self?.goOn()
        }
    }

    private func goOn() { if !isOver { watch() } }

    // MARK: The path

    /// Takes a socket away on which nobody listens any more.
    /// - Throws: if something else is there.
    private static func makeWay(at path: String) throws(CommandFailure) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw CommandFailure(
                tr(
                    "“{file}” exists already, and is not a socket. Move it away, or give another path.",
                    ["file": path.shown]))
        }
        guard !isInUse(path) else {
            throw CommandFailure(
                tr(
                    "Another program listens on “{file}”. End it, or give another path.",
                    ["file": path.shown]))
        }
        unlink(path)
    }

    /// Whether anything but that nobody listens is known of the socket at `path`.
    private static func isInUse(_ path: String) -> Bool {
        let probe = socket()
        guard probe >= 0 else { return true }
        defer { close(probe) }
        let outcome = withAddress(of: path) { Glibc.connect(probe, $0, $1) == 0 ? 0 : errno }
        return outcome != ECONNREFUSED
    }

    private static func open(_ path: String) throws(CommandFailure) -> Int32 {
        let descriptor = socket()
        guard descriptor >= 0 else { throw failure(path, SystemError.last) }
        // Nobody else can connect from the first moment on.
        let mask = umask(0o177)
        let bound = withAddress(of: path) { Glibc.bind(descriptor, $0, $1) == 0 ? 0 : errno }
        umask(mask)
        guard let number = bound else {
            close(descriptor)
            throw CommandFailure(
                tr("The path “{file}” is too long for a socket. Give a shorter one.", ["file": path.shown]))
        }
        guard number == 0 else {
            close(descriptor)
            throw failure(path, SystemError.text(number))
        }
        guard Glibc.listen(descriptor, backlog) == 0 else {
            let reason = SystemError.last
            unlink(path)
            close(descriptor)
            throw failure(path, reason)
        }
        return descriptor
    }

    private static func failure(_ path: String, _ reason: String) -> CommandFailure {
        CommandFailure(
            tr(
                "No socket can be made at “{file}”: {reason}.", ["file": path.shown, "reason": reason]))
    }

    /// A new socket that does not wait; negative if there is none.
    private static func socket() -> Int32 {
        Glibc.socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    }

    /// Calls `body` with the address of the socket at `path`.
    /// - Returns: what `body` returns; nil if the path does not fit into an address (unix(7)).
    private static func withAddress(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            // A zero ends it.
            guard bytes.count < room.count else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        guard fits else { return nil }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
