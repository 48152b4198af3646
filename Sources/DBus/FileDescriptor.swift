// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// An open file descriptor that closes itself: it has one owner at a time.
package struct FileDescriptor: ~Copyable, Sendable {
    /// The number, for calls that borrow the descriptor.
    package let number: Int32

    /// Takes over `number`.
    package init(owning number: Int32) { self.number = number }

    /// A close-on-exec duplicate of `number`; nil if there is no such descriptor, or none left for it.
    package init?(duplicating number: Int32) {
        let duplicate = number < 0 ? -1 : fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { return nil }
        self.number = duplicate
    }

    deinit { close(number) }

    /// Gives the number away: whoever takes it has to close it.
    package consuming func take() -> Int32 {
        let number = number
        discard self
        return number
    }

    /// A connected pair of close-on-exec stream sockets (socketpair(2)).
    package static func socketPair() throws(DBusError) -> SocketPair {
        var numbers: (Int32, Int32) = (-1, -1)
        let failed = withUnsafeMutablePointer(to: &numbers) {
            $0.withMemoryRebound(to: Int32.self, capacity: 2) {
                socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, $0)
            }
        }
        if failed != 0 {
            throw DBusError(.failed, "No socket pair could be made: \(String(cString: strerror(errno))).")
        }
        return SocketPair(ours: FileDescriptor(owning: numbers.0), theirs: FileDescriptor(owning: numbers.1))
    }
}

/// Both ends of a socket pair.
@frozen
package struct SocketPair: ~Copyable, Sendable {
    /// The end that stays here.
    package let ours: FileDescriptor
    /// The end to give away.
    package let theirs: FileDescriptor
}
