// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import Glibc

/// The socket pairs of streams.
package enum StreamSocket {
    /// How long a writer takes at most to notice that it can no longer write.
    ///
    /// When a stream breaks, its application is first prevented from writing, and the bridge's end is closed
    /// after this time. The error that closing causes is reported only once, and a writer that was still
    /// waiting would receive it (unix(7)); the reader would then see what looks like an orderly end.
    package static let lingerTime = Duration.milliseconds(100)

    /// How many bytes the kernel keeps in each direction until they are read, if it allows that many.
    private static let bufferSize: Int32 = 256 << 10

    /// The application whose other end this is cannot write any more (`EPIPE`).
    package static func preventWriting(to end: Int32) { shutdown(end, Int32(SHUT_RD)) }

    /// A socket pair for a document, which is sent through `theirs`.
    ///
    /// It is like that of a stream. Besides, one byte is in the queue of `theirs`, and is no part of what comes: who
    /// sends reads it once everything is done. What closes that end before, including the death of its process, makes
    /// the bridge, which has the other end, break the stream.
    package static func makeDocumentPair() throws(DBusError) -> SocketPair {
        let pair = try makePair()
        try putByte(through: pair.ours.number)
        return pair
    }

    private static func putByte(through end: Int32) throws(DBusError) {
        var byte: UInt8 = 0
        guard send(end, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) == 1 else {
            throw DBusError(.failed, "A new socket takes nothing: \(String(cString: strerror(errno))).")
        }
    }

    /// A socket pair, one end of which is for an application: `theirs`.
    ///
    /// One byte is in the queue of `ours` already, and is not part of the stream. As long as there is some
    /// byte that has not been read, anything that closes that end, including the death of its process, makes
    /// the application read `ECONNRESET` instead of an end of file: this is how an AF_UNIX socket reports
    /// that unread data was thrown away (unix(7)).
    package static func makePair() throws(DBusError) -> SocketPair {
        let pair = try FileDescriptor.socketPair()
        for descriptor in [pair.ours.number, pair.theirs.number] {
            var size = bufferSize
            setsockopt(
                descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout.size(ofValue: size)))
        }
        try putByte(through: pair.theirs.number)
        return pair
    }
}
